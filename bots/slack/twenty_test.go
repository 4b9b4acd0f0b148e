package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
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

// TestTwentyTurns has twenty turns at once in a workspace that holds to its tiers, each of which asks
// for approval, and another turn in each of the threads after that. The agent, the bot and the adapter
// are the real ones; the clock and the way to Slack, of 50 to 250 ms, are not. No call is refused,
// nothing is lost, and what people wait for comes no later than the tiers demand.
func TestTwentyTurns(t *testing.T) {
	for _, c := range []struct {
		name      string
		channels  int
		noStreams bool
	}{{"in one channel", 1, false}, {"in ten channels", 10, false}, {"without streams", 10, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := slacktest.New(slacktest.Config{Tiers: true, NoStreams: c.noStreams, Direct: true})
				defer w.Close()
				r := newRush(t, w, c.channels)
				r.play(20, 2)
				r.judge()
			})
		})
	}
}

// A rush is the bot in a workspace where much happens at once.
type rush struct {
	t        *testing.T
	w        *slacktest.Workspace
	log      store.Log
	channels []string
	accept   func(context.Context, bots.Event) error
	stop     func()

	mu      sync.Mutex
	latency *rand.Rand
	calls   []made
	threads []bots.Thread
}

// A made is a call of the Web API as it reached Slack.
type made struct {
	method string
	args   url.Values
	at     time.Time // when it was sent
	status int
	answer string
}

// RoundTrip brings a call to Slack and notes it.
func (r *rush) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	args, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	m := made{method: path.Base(req.URL.Path), args: args, at: time.Now()}
	r.mu.Lock()
	there, back := time.Duration(50+r.latency.IntN(200))*time.Millisecond, time.Duration(50+r.latency.IntN(200))*time.Millisecond
	r.mu.Unlock()
	time.Sleep(there)
	req.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := r.w.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	m.status, m.answer = resp.StatusCode, string(answer)
	r.mu.Lock()
	r.calls = append(r.calls, m)
	r.mu.Unlock()
	time.Sleep(back)
	return resp, nil
}

// An offline is the adapter without its socket, which needs a network.
type offline struct {
	*slack.Slack
	accepts chan func(context.Context, bots.Event) error
}

func (o offline) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	o.accepts <- accept
	<-ctx.Done()
	return nil
}

func newRush(t *testing.T, w *slacktest.Workspace, channels int) *rush {
	r := &rush{t: t, w: w, log: storetest.NewMemory(), latency: rand.New(rand.NewPCG(1, 2))}
	w.AddUser("alice")
	for i := range channels {
		r.channels = append(r.channels, w.AddChannel(fmt.Sprint("c", i)))
	}
	s, err := slack.New(slack.Config{
		BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, APIURL: w.URL,
		HTTPClient: &http.Client{Transport: r, Timeout: 30 * time.Second},
	})
	require.NoError(t, err)
	registry, err := tools.NewRegistry(r.shell())
	require.NoError(t, err)
	a, err := agent.New(agent.Config{
		Log: r.log, Tools: registry, Replica: "r", Audience: true,
		Settings: func(string) (agent.Settings, error) {
			return agent.Settings{Workspace: "w", Dir: t.TempDir(), Model: writer{}, ModelName: "m", Limits: agent.Limits{Approval: time.Hour}}, nil
		},
	})
	require.NoError(t, err)
	o := offline{s, make(chan func(context.Context, bots.Event) error, 1)}
	b, err := bots.New(bots.Config{Platform: o, Agent: a, Log: r.log})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.Run(ctx) })
	wg.Go(func() { _ = a.Run(ctx) })
	r.accept = <-o.accepts
	r.stop = func() {
		cancel()
		wg.Wait()
	}
	return r
}

// shell is a tool that needs approval and takes half a minute.
func (r *rush) shell() tools.Tool {
	return tools.Tool{
		Name: "shell", Description: "Does something in this test.", Effect: tools.Action, Timeout: time.Hour,
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{}}`),
		Title: func(json.RawMessage) string { return "make" },
		Preview: func(context.Context, tools.Call) (tools.Preview, error) {
			return tools.Preview{Kind: tools.Command, Text: "make all", Digest: "d"}, nil
		},
		Run: func(context.Context, tools.Call) (tools.Result, error) {
			time.Sleep(30 * time.Second)
			return tools.Result{Text: "made", Note: "exit status 0"}, nil
		},
	}
}

// A writer is a model that writes for twenty seconds, wants a command to be run, and answers.
type writer struct{}

func (writer) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	text := strings.Repeat("words and ", 50)
	for word := range strings.Lines(strings.ReplaceAll(text, " ", " \n")) {
		emit(llm.Delta{Text: strings.TrimSuffix(word, "\n")})
		time.Sleep(200 * time.Millisecond)
	}
	if r.Messages[len(r.Messages)-1].Role == llm.User {
		return &llm.Reply{Text: text, Stop: llm.ToolUse, Calls: []llm.Call{{ID: "c", Name: "shell", Args: []byte(`{}`)}}}, ctx.Err()
	}
	return &llm.Reply{Text: text, Stop: llm.EndTurn}, ctx.Err()
}

// play lets people ask in that many threads at once, so many turns one after the other, and approve
// what they see.
func (r *rush) play(threads, turns int) {
	time.Sleep(time.Second) // what is older than the bot may have been posted before
	var wg sync.WaitGroup
	for i := range threads {
		channel := r.channels[i%len(r.channels)]
		root := r.w.Say("UALICE", channel, "", "hello")
		th := bots.Thread{Platform: slack.Name, Workspace: slacktest.TeamID, Channel: channel, ID: root}
		r.threads = append(r.threads, th)
		wg.Go(func() {
			for n := range turns {
				r.turn(th, n, i)
			}
		})
	}
	wg.Wait()
	time.Sleep(10 * time.Minute) // until all is tidied up
	synctest.Wait()
	r.stop()
}

// turn asks, approves three seconds after the card is there, and waits for the answer.
func (r *rush) turn(th bots.Thread, n, i int) {
	ctx := context.Background()
	alice := bots.Person{ID: "UALICE", Name: "alice"}
	id := th.ID
	if n > 0 {
		id = r.w.Say("UALICE", th.Channel, th.ID, "again")
	}
	require.NoError(r.t, r.accept(ctx, bots.Said{Thread: th, ID: id, By: alice, Text: "go", Mention: true}))
	has := func(cond func(slacktest.Message) bool) (found slacktest.Message) {
		for {
			for _, m := range r.w.Thread(th.Channel, th.ID) {
				if cond(m) {
					return m
				}
			}
			time.Sleep(time.Second)
		}
	}
	card := has(func(m slacktest.Message) bool { return slices.Contains(m.Labels(), "Approve") })
	time.Sleep(3 * time.Second)
	require.NoError(r.t, r.accept(ctx, bots.Clicked{Thread: th, ID: fmt.Sprint(i, "/", n), By: alice, Action: bots.Approve, Value: card.Buttons[0].Value}))
	has(func(m slacktest.Message) bool { return m.Key == fmt.Sprint(n+1, "/answer/0") })
}

// A wait is how long people waited for something to be shown.
type wait struct {
	call        int // index in rush.calls of what shows it
	lane        string
	cause, made time.Time
	class       bots.Class
}

// judge looks at what has become of the rush.
func (r *rush) judge() {
	t := r.t
	methods := map[string]int{}
	for _, c := range r.calls {
		methods[c.method]++
		require.Equal(t, http.StatusOK, c.status, "%s: %s", c.method, c.answer)
		require.NotContains(t, c.answer, "ratelimited")
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		t.Logf("%4d %s", methods[name], name)
	}
	waits := map[string][]time.Duration{}
	byLane := map[string][]wait{}
	counted := map[int]bool{} // one call may show two things
	for _, th := range r.threads {
		for _, what := range r.waits(th) {
			kind := map[bots.Class]string{bots.Approval: "approval", bots.Final: "final"}[what.class] + " by " + strings.Fields(what.lane)[0]
			waits[kind] = append(waits[kind], what.made.Sub(what.cause))
			if !counted[what.call] {
				counted[what.call] = true
				byLane[what.lane] = append(byLane[what.lane], what)
			}
		}
		shown := map[string]slacktest.Message{}
		for _, m := range r.w.Thread(th.Channel, th.ID) {
			require.NotEqual(t, "open", m.Stream.State)
			if m.User == slacktest.BotUser {
				require.NotContains(t, shown, m.Key)
				shown[m.Key] = m
			}
		}
		require.Len(t, shown, 6, "progress, a card and an answer of two turns")
		for key, m := range shown {
			if strings.HasSuffix(key, "progress") {
				require.Contains(t, m.Text, "Done in")
			}
			if strings.Contains(key, "card") {
				require.Contains(t, m.Text, "It ran")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(waits)) {
		all := waits[name]
		slices.Sort(all)
		t.Logf("%4d %s: median %v, longest %v", len(all), name, all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
	}
	for i, c := range r.calls {
		if c.method == "chat.update" && strings.Contains(c.args.Get("metadata"), "/card/") && !counted[i] {
			// It shows something in between: how soon it should have does not matter, but it takes its time.
			byLane[c.method] = append(byLane[c.method], wait{i, c.method, c.at, c.at, bots.Approval})
		}
	}
	for lane, all := range byLane {
		r.compare(lane, all)
	}
}

// waits returns what people waited for in a thread: cards, what the cards say after a click, answers.
func (r *rush) waits(th bots.Thread) (all []wait) {
	for e, err := range r.log.Read(context.Background(), th.String(), 0) {
		require.NoError(r.t, err)
		for _, ev := range e.Events {
			v, err := agent.Decode(ev)
			require.NoError(r.t, err)
			switch v := v.(type) {
			case *agent.ApprovalAsked:
				turn, _, _ := strings.Cut(v.Call, ".")
				all = append(all, r.waited(th, "chat.postMessage", turn+"/card/"+v.Call+"/1", e.Time, bots.Approval))
			case *agent.Decided:
				turn, _, _ := strings.Cut(v.Call, ".")
				all = append(all, r.waited(th, "chat.update", turn+"/card/"+v.Call+"/1", e.Time, bots.Approval))
			case *agent.ToolFinished:
				turn, _, _ := strings.Cut(v.Call, ".")
				all = append(all, r.waited(th, "chat.update", turn+"/card/"+v.Call+"/1", e.Time, bots.Approval))
			case *agent.TurnEnded:
				all = append(all, r.waited(th, "chat.postMessage", fmt.Sprint(v.Turn, "/answer/0"), e.Time, bots.Final))
			}
		}
	}
	return all
}

// waited finds the first call for a message after its cause.
func (r *rush) waited(th bots.Thread, method, key string, cause time.Time, class bots.Class) wait {
	lane := method
	if method == "chat.postMessage" {
		lane += " " + th.Channel
	}
	for i, c := range r.calls {
		at := c.args.Get("thread_ts") == th.ID || method == "chat.update" && r.in(th, c.args.Get("ts"))
		if c.method == method && at && strings.Contains(c.args.Get("metadata"), `"`+key+`"`) && !c.at.Before(cause.Round(0)) {
			return wait{i, lane, cause, c.at, class}
		}
	}
	require.Fail(r.t, "not shown", "%s of %s", key, th)
	return wait{}
}

func (r *rush) in(th bots.Thread, ts string) bool {
	return slices.ContainsFunc(r.w.Thread(th.Channel, th.ID), func(m slacktest.Message) bool { return m.TS == ts })
}

// compare checks that the k-th of each class is no later than if the calls of a lane were made one after
// the other, the more urgent first, at the even pace that its tier leaves beside a burst, and there were
// no progress at all: but for one gap of that pace, and for what the thread itself has under way. It
// tells how it is beside the pace of the whole tier.
func (r *rush) compare(lane string, all []wait) {
	const own = time.Second
	tier := map[string]int{"chat.postMessage": 60, "chat.update": 50}[strings.Fields(lane)[0]]
	gap := time.Minute / time.Duration(tier-10) // 10 come at once
	late, _ := behind(all, gap)
	require.LessOrEqual(r.t, late, gap+own, lane)
	if late, n := behind(all, time.Minute/time.Duration(tier)); late > 200*time.Millisecond {
		r.t.Logf("%s: %d of %d are behind an even %d a minute, by at most %v", lane, n, len(all), tier, late)
	}
}
