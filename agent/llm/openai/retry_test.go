package openai_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// An asked is one Generate in the background of a bubble.
type asked struct {
	deltas []llm.Delta
	reply  *llm.Reply
	err    error
	took   time.Duration
	done   chan struct{}
}

// ask starts a request within a synctest bubble.
func ask(ctx context.Context, m llm.Model) *asked {
	a := &asked{done: make(chan struct{})}
	start := time.Now()
	go func() {
		defer close(a.done)
		a.reply, a.err = m.Generate(ctx, hello(), func(d llm.Delta) { a.deltas = append(a.deltas, d) })
		a.took = time.Since(start)
	}()
	return a
}

// hello is a small request.
func hello() *llm.Request {
	return &llm.Request{
		Session:  "s1",
		System:   "You are a test.",
		Messages: []*llm.Message{{Role: llm.User, Text: "hello"}},
		Tools:    []llm.Tool{{Name: "clock", Description: "Tells the time.", Input: []byte(`{"type":"object"}`)}},
	}
}

// bubble runs a test in fake time, against a server in memory, for each API.
func bubble(t *testing.T, c openai.Config, run func(t *testing.T, m llm.Model, srv *llmtest.Server)) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := llmtest.NewMemory()
				defer srv.Close()
				c.API = api
				run(t, newModel(t, srv, c), srv)
			})
		})
	}
}

// next takes the next request of a model.
func next(t *testing.T, srv *llmtest.Server) *llmtest.Exchange {
	t.Helper()
	ex, err := srv.Next(t.Context())
	require.NoError(t, err)
	return ex
}

func TestRetriesWithRestart(t *testing.T) {
	bubble(t, openai.Config{}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
		a := ask(t.Context(), m)
		next(t, srv).Fail(&llm.Error{Status: 503})
		ex := next(t, srv)
		ex.Say("half an ans")
		ex.Cut()
		next(t, srv).End()
		ex = next(t, srv)
		ex.Say("whole")
		ex.Finish()
		<-a.done
		require.NoError(t, a.err)
		require.Equal(t, "whole", a.reply.Text)
		require.Equal(t, []llm.Delta{{Text: "half an ans"}, {Restart: true}, {Text: "whole"}}, a.deltas,
			"a restart only after something was emitted")
		require.GreaterOrEqual(t, a.took, 1750*time.Millisecond, "half of 0.5, 1 and 2 s")
		require.LessOrEqual(t, a.took, 3500*time.Millisecond)
	})
}

func TestGivesUpAfterItsTries(t *testing.T) {
	for _, tries := range []int{0, 1, 3} {
		bubble(t, openai.Config{Tries: tries}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
			a := ask(t.Context(), m)
			want := tries
			if want == 0 {
				want = 5
			}
			for range want {
				next(t, srv).Fail(&llm.Error{Status: 500, Message: "out of order"})
			}
			<-a.done
			require.Nil(t, a.reply)
			requireKind(t, llm.Server, a.err)
			require.ErrorContains(t, a.err, "out of order")
			require.Equal(t, want, srv.Count())
		})
	}
}

func requireKind(t *testing.T, want llm.Kind, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Kind, "%v", err)
	return e
}

func TestRetryAfterIsHonoured(t *testing.T) {
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for name, header := range map[string]func() []string{
		"seconds":      func() []string { return []string{"Retry-After", "30"} },
		"milliseconds": func() []string { return []string{"Retry-After-Ms", "30000"} },
		"date":         func() []string { return []string{"Retry-After", at(30 * time.Second)} },
		"date of a clock that is wrong": func() []string {
			return []string{"Retry-After", at(-time.Hour + 30*time.Second), "Date", at(-time.Hour)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, openai.Config{}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
				a := ask(t.Context(), m)
				next(t, srv).FailWith(429, `{"error":{"message":"slow down"}}`, header()...)
				next(t, srv).Answer(llmtest.Say("ok"))
				<-a.done
				require.NoError(t, a.err)
				require.GreaterOrEqual(t, a.took, 29*time.Second)
				require.LessOrEqual(t, a.took, 31*time.Second)
			})
		})
	}
}

func TestLongRetryAfterEndsTheTries(t *testing.T) {
	bubble(t, openai.Config{}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
		a := ask(t.Context(), m)
		next(t, srv).FailWith(429, `{"error":{"message":"come back tomorrow"}}`, "Retry-After", "3600")
		<-a.done
		require.Equal(t, time.Hour, requireKind(t, llm.RateLimit, a.err).RetryAfter)
		require.Zero(t, a.took)
	})
}

func TestIdleServerIsATimeout(t *testing.T) {
	bubble(t, openai.Config{Tries: 2}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
		a := ask(t.Context(), m)
		first := next(t, srv) // not a byte, not even a header
		second := next(t, srv)
		<-first.Gone() // the server learns of it
		for range 10 { // bytes, however slow and empty, are life
			time.Sleep(80 * time.Second)
			second.KeepAlive(1)
		}
		second.Say("so far")
		<-a.done
		e := requireKind(t, llm.Timeout, a.err)
		require.Contains(t, e.Message, "1m30s")
		require.Greater(t, a.took, 90*time.Second+800*time.Second+90*time.Second-time.Second)
		require.Equal(t, []llm.Delta{{Text: "so far"}}, a.deltas)
	})
}

func TestCancelledAtEveryMoment(t *testing.T) {
	cause := errors.New("a person pressed stop")
	for name, until := range map[string]func(t *testing.T, srv *llmtest.Server){
		"before the header": func(t *testing.T, srv *llmtest.Server) { next(t, srv) },
		"in the stream":     func(t *testing.T, srv *llmtest.Server) { next(t, srv).Say("half") },
		"while it waits": func(t *testing.T, srv *llmtest.Server) {
			next(t, srv).FailWith(429, `{}`, "Retry-After", "50")
		},
		"in a refusal": func(t *testing.T, srv *llmtest.Server) {
			next(t, srv).Raw("data: {") // nothing of sense follows
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, openai.Config{}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
				ctx, cancel := context.WithCancelCause(t.Context())
				a := ask(ctx, m)
				until(t, srv)
				synctest.Wait()
				cancel(cause)
				<-a.done
				require.Nil(t, a.reply)
				require.ErrorIs(t, a.err, cause)
				require.Zero(t, a.took)
			})
		})
	}
}

// A server that says why it stopped and then neither goes on nor ends does not hold the answer back.
func TestCompleteAnswerDoesNotWaitForTheEnd(t *testing.T) {
	bubble(t, openai.Config{}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
		a := ask(t.Context(), m)
		ex := next(t, srv)
		if ex.Request.API == "chat" {
			ex.Raw(`data: {"choices":[{"delta":{"content":"done"},"finish_reason":"stop"}]}` + "\n\n")
		} else {
			ex.Raw(`data: {"type":"response.completed","response":{"object":"response","status":"completed",` +
				`"output":[{"type":"message","content":[{"type":"output_text","text":"done"}]}]}}` + "\n\n")
		}
		<-a.done
		require.NoError(t, a.err)
		require.Equal(t, "done", a.reply.Text)
		require.Equal(t, []llm.Delta{{Text: "done"}}, a.deltas)
		require.LessOrEqual(t, a.took, 5*time.Second)
	})
}

func TestEmptyAnswerIsTriedAgain(t *testing.T) {
	bubble(t, openai.Config{Tries: 2}, func(t *testing.T, m llm.Model, srv *llmtest.Server) {
		a := ask(t.Context(), m)
		ex := next(t, srv)
		ex.Think("hmm")
		ex.Finish()
		next(t, srv).Answer(llmtest.Say("\n"))
		<-a.done
		requireKind(t, llm.Empty, a.err)
	})
}
