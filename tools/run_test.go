package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type run func(context.Context, Call) (Result, error)

func running(f run) *Tool { return &Tool{Name: "t", Timeout: 3 * time.Second, Run: f} }

var errStopped = errors.New("a person stopped it")

func TestRunReturnsWhatTheToolReturns(t *testing.T) {
	failure := errors.New("no such file")
	for _, test := range []struct {
		name string
		give Result
		err  error
		want Result
	}{
		{"text", Result{Text: "x", Note: "n"}, nil, Result{Text: "x", Note: "n"}},
		{"no output", Result{Text: " \n"}, nil, Result{Text: "(no output)"}},
		{"failed without output", Result{Failed: true}, nil, Result{Text: "(no output)", Failed: true}},
		{"error", Result{}, failure, Result{}},
		{"error beside text", Result{Text: "half"}, failure, Result{Text: "half"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Run(t.Context(), running(func(_ context.Context, c Call) (Result, error) {
				require.Equal(t, "1.2.3", c.ID)
				return test.give, test.err
			}), Call{ID: "1.2.3"})
			require.Equal(t, test.want, got)
			require.Equal(t, test.err, err)
		})
	}
}

func TestRunTurnsAPanicIntoAnError(t *testing.T) {
	_, err := Run(t.Context(), running(func(context.Context, Call) (Result, error) { panic("index out of range") }), Call{})
	require.EqualError(t, err, "a fault in tool t: index out of range")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Error("call failed", "err", err)
	require.Contains(t, log.String(), "run_test.go", "the log has the stack")
}

func TestRunEndsAtTheTimeLimit(t *testing.T) {
	const limit = "t timed out after 3s: ask for less at once, or try another way"
	for _, test := range []struct {
		name string
		do   run
		took time.Duration
		text string
		want string
	}{
		{"it honours its context", func(ctx context.Context, _ Call) (Result, error) {
			<-ctx.Done()
			return Result{Text: "so far"}, ctx.Err()
		}, 3 * time.Second, "so far", limit},
		{"it wraps the error", func(ctx context.Context, _ Call) (Result, error) {
			<-ctx.Done()
			return Result{}, fmt.Errorf("reading: %w", ctx.Err())
		}, 3 * time.Second, "", limit + " (reading: context deadline exceeded)"},
		{"it returns the cause", func(ctx context.Context, _ Call) (Result, error) {
			<-ctx.Done()
			return Result{}, context.Cause(ctx)
		}, 3 * time.Second, "", limit},
		{"it has an error of its own", func(ctx context.Context, _ Call) (Result, error) {
			<-ctx.Done()
			return Result{}, errors.New("i/o timeout")
		}, 3 * time.Second, "", limit + " (i/o timeout)"},
		{"it comes to a good end late", func(context.Context, Call) (Result, error) {
			time.Sleep(4 * time.Second)
			return Result{Text: "done"}, nil
		}, 4 * time.Second, "done", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				got, err := Run(t.Context(), running(test.do), Call{})
				require.Equal(t, test.took, time.Since(begin))
				require.Equal(t, test.text, got.Text)
				if test.want == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, test.want)
				require.ErrorIs(t, err, ErrTimeout)
				require.NotErrorIs(t, err, ErrAbandoned)
			})
		})
	}
}

func TestRunHasADefaultTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := running(func(ctx context.Context, _ Call) (Result, error) { <-ctx.Done(); return Result{}, ctx.Err() })
		tool.Timeout = 0
		_, err := Run(t.Context(), tool, Call{})
		require.ErrorContains(t, err, "timed out after 10s")
	})
}

func TestRunLeavesBehindWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		begin := time.Now()
		_, err := Run(t.Context(), running(func(context.Context, Call) (Result, error) {
			<-release
			return Result{Text: "too late"}, nil
		}), Call{})
		require.ErrorIs(t, err, ErrTimeout)
		require.ErrorIs(t, err, ErrAbandoned)
		require.ErrorContains(t, err, "may still be running")
		require.Equal(t, 3*time.Second+grace, time.Since(begin))
		close(release) // it ends without harm
	})
}

func TestRunTellsCancellationFromTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errStopped) })
		got, err := Run(ctx, running(func(ctx context.Context, _ Call) (Result, error) {
			<-ctx.Done()
			return Result{Text: "so far"}, ctx.Err()
		}), Call{})
		require.Equal(t, errStopped, err)
		require.Equal(t, "so far", got.Text)
	})
}
