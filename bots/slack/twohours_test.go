package slack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
	"github.com/heddle-bot/heddle/tools"
)

// TestTwoHours lets people write in many threads for two hours, of a clock that is not real, while the way
// to Slack flaps: storms of 429, calls that do not arrive, calls whose answer does not come back, minutes
// in which nothing gets through, events that come twice, late and in another order, and a restart every
// twenty minutes. Every message that was accepted has one answer, in its thread, and nothing is there twice.
func TestTwoHours(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := slacktest.New(slacktest.Config{Direct: true, NoStreams: seed == 1})
				defer w.Close()
				f := &flapping{t: t, w: w, log: storetest.NewMemory(), line: line{rand: rand.New(rand.NewPCG(seed, 7))}}
				w.AddUser("alice")
				for i := range 5 {
					f.channels = append(f.channels, w.AddChannel(fmt.Sprint("c", i)))
				}
				f.start()
				for began := time.Now(); time.Since(began) < 2*time.Hour; {
					f.say()
					time.Sleep(time.Duration(f.n(40)) * time.Second)
					if f.n(30) == 0 {
						f.stop()
						f.start()
					}
				}
				f.mu.Lock()
				f.calm = true
				f.mu.Unlock()
				time.Sleep(time.Hour)
				synctest.Wait()
				f.stop()
				f.check()
			})
		})
	}
}

// A flapping is the bot behind a bad line.
type flapping struct {
	t        *testing.T
	w        *slacktest.Workspace
	log      store.Log
	channels []string
	accept   func(context.Context, bots.Event) error
	stop     func()
	starts   int
	said     []word
	line
}

// A line is the way to Slack.
type line struct {
	mu    sync.Mutex
	rand  *rand.Rand
	calm  bool
	dark  time.Time // until when nothing gets through
	calls int
	bad   int // of them
}

// A word was said in a thread, and is what its answer has to repeat.
type word struct {
	text string
	at   bots.Thread
}

func (l *line) n(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rand.IntN(n)
}

// RoundTrip brings a call to Slack, or not.
func (f *flapping) RoundTrip(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	fate, wait := f.rand.IntN(14), time.Duration(20+f.rand.IntN(300))*time.Millisecond
	if f.rand.IntN(300) == 0 {
		f.dark = time.Now().Add(time.Duration(f.rand.IntN(120)) * time.Second)
	}
	if time.Now().Before(f.dark) {
		fate = 0
	}
	if f.calm {
		fate = 100
	}
	f.calls++
	if fate < 6 {
		f.bad++
	}
	f.mu.Unlock()
	time.Sleep(wait)
	answer := func(status int, body string, header ...string) *http.Response {
		r := &http.Response{StatusCode: status, Status: http.StatusText(status), Request: req, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return r
	}
	switch fate {
	case 0:
		return nil, errors.New("the line is dead")
	case 1:
		return answer(http.StatusTooManyRequests, "", "Retry-After", fmt.Sprint(1+f.n(30))), nil
	case 2:
		return answer(http.StatusTooManyRequests, ""), nil
	case 3:
		return answer(http.StatusServiceUnavailable, "down"), nil
	}
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{}) // as the transport does that has a connection
	}
	resp, err := f.w.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	switch fate {
	case 4:
		return nil, errors.New("the answer is lost")
	case 5:
		return answer(http.StatusInternalServerError, "it may have worked"), nil
	}
	return resp, nil
}

// start starts the program.
func (f *flapping) start() {
	f.starts++
	s, err := slack.New(slack.Config{
		BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, APIURL: f.w.URL,
		HTTPClient: &http.Client{Transport: f, Timeout: 30 * time.Second},
	})
	require.NoError(f.t, err)
	registry, err := tools.NewRegistry()
	require.NoError(f.t, err)
	a, err := agent.New(agent.Config{
		Log: f.log, Tools: registry, Replica: fmt.Sprint("r", f.starts), Audience: true,
		Settings: func(string) (agent.Settings, error) {
			return agent.Settings{Workspace: "w", Dir: f.t.TempDir(), Model: parrot{}, ModelName: "m"}, nil
		},
	})
	require.NoError(f.t, err)
	o := offline{s, make(chan func(context.Context, bots.Event) error, 1)}
	b, err := bots.New(bots.Config{
		Platform: o, Agent: a, Log: f.log,
		Channel: func(bots.Thread) bots.Channel { return bots.Channel{Busy: agent.Queue} },
	})
	require.NoError(f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.Run(ctx) })
	wg.Go(func() { _ = a.Run(ctx) })
	f.accept = <-o.accepts
	f.stop = func() {
		cancel()
		wg.Wait()
	}
}

// A parrot is a model that takes some seconds and repeats the words that it has not answered.
type parrot struct{}

var parroted = regexp.MustCompile(`\bword\d+\b`)

func (parrot) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	var words []string
	for _, m := range r.Messages {
		switch m.Role {
		case llm.User:
			words = append(words, parroted.FindAllString(m.Text, -1)...)
		case llm.Assistant:
			words = nil
		}
	}
	for _, w := range words {
		emit(llm.Delta{Text: w + " "})
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(3 * time.Second):
		}
	}
	return &llm.Reply{Text: strings.Join(words, " "), Stop: llm.EndTurn}, nil
}

// say lets somebody write, into a new thread or an old one. What accept does not take is delivered again,
// and what it takes now and then too.
func (f *flapping) say() {
	w := word{text: fmt.Sprint("word", len(f.said))}
	channel := f.channels[f.n(len(f.channels))]
	if len(f.said) > 0 && f.n(3) > 0 {
		w.at = f.said[f.n(len(f.said))].at
		channel = w.at.Channel
	}
	id := f.w.Say("UALICE", channel, w.at.ID, w.text)
	if w.at.ID == "" {
		w.at = bots.Thread{Platform: slack.Name, Workspace: slacktest.TeamID, Channel: channel, ID: id}
	}
	f.said = append(f.said, w)
	e := bots.Said{Thread: w.at, ID: id, By: bots.Person{ID: "UALICE", Name: "alice"}, Text: w.text, Mention: true, Time: time.Now()}
	for range 1 + f.n(3) {
		if f.n(4) == 0 {
			time.Sleep(time.Duration(f.n(60)) * time.Second)
		}
		require.NoError(f.t, f.accept(f.t.Context(), e))
	}
}

// check looks at what is in the threads in the end.
func (f *flapping) check() {
	t := f.t
	t.Logf("%d messages, %d calls of which %d went wrong, %d starts", len(f.said), f.calls, f.bad, f.starts)
	answers, keys := map[string][]string{}, map[string]bool{}
	for _, channel := range f.channels {
		for _, m := range f.w.Channel(channel) {
			if m.User != slacktest.BotUser || m.For != "" {
				continue
			}
			require.NotEmpty(t, m.Thread)
			key := m.Thread + " " + m.Key
			require.False(t, keys[key], "the message %s is there twice", key)
			keys[key] = true
			require.Empty(t, m.Buttons)
			require.NotContains(t, m.Text, "Working", "what is over looks so")
			if strings.Contains(m.Key, "/answer/") {
				for _, w := range parroted.FindAllString(m.Text, -1) {
					answers[w] = append(answers[w], path.Join(channel, m.Thread))
				}
			}
		}
	}
	for _, w := range f.said {
		require.Equal(t, []string{path.Join(w.at.Channel, w.at.ID)}, answers[w.text], w.text)
	}
	open := slices.Collect(func(yield func(string) bool) {
		for id, err := range f.log.Open(context.Background(), time.Now()) {
			require.NoError(t, err)
			yield(id)
		}
	})
	require.Empty(t, open)
}
