package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"
)

var (
	// ErrTimeout says that a call was ended at its time limit.
	ErrTimeout = errors.New("timed out")
	// ErrAbandoned says that a call did not end when it was told to, so it was left behind: its
	// goroutine lives on, and what it does is not known. It is a fault of the tool, worth a log entry.
	ErrAbandoned = errors.New("it did not end when told to and may still be running")
)

// A PanicError is a fault of a tool. What the model and people are told has no stack; what a log
// gets has.
type PanicError struct {
	Tool  string
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("a fault in tool %s: %v", e.Tool, e.Value)
}

// LogValue returns the fault with its stack.
func (e *PanicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("tool", e.Tool), slog.Any("panic", e.Value), slog.String("stack", string(e.Stack)))
}

// grace is how long a call may take to end after it was told to. It is longer than the time that
// tools/shell needs to end a command that does not want to.
const grace = 5 * time.Second

// nothing is what the model is told of a call without output, as no text may look like no result.
const nothing = "(no output)"

type outcome struct {
	result Result
	err    error
}

// Run runs the call within the tool's time limit. The Result holds what there is beside an error,
// too. An error is
//   - the tool's own;
//   - a *PanicError;
//   - one that wraps ErrTimeout;
//   - or one that wraps the cause of ctx's end, if that ended the call.
//
// A call that has come to a good end in spite of its context is a good call. One that does not end
// is left behind, and the error wraps ErrAbandoned as well.
func Run(ctx context.Context, t *Tool, c Call) (Result, error) {
	limit := cmp.Or(t.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s %w after %s: ask for less at once, or try another way", t.Name, ErrTimeout, limit))
	defer cancel()

	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("the tool ended without a result")} // unless it returns
		defer func() {
			if v := recover(); v != nil {
				o.err = &PanicError{t.Name, v, debug.Stack()}
			}
			done <- o
		}()
		o.result, o.err = t.Run(ctx, c)
	}()

	select {
	case o := <-done:
		return o.end(ctx)
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.end(ctx)
	case <-timer.C:
		return Result{}, fmt.Errorf("%w; %w", context.Cause(ctx), ErrAbandoned)
	}
}

// end returns what the caller of Run gets.
func (o outcome) end(ctx context.Context) (Result, error) {
	if o.err == nil && strings.TrimSpace(o.result.Text) == "" {
		o.result.Text = nothing
	}
	cause := context.Cause(ctx)
	switch {
	case o.err == nil || cause == nil || errors.Is(o.err, cause):
	case o.err == ctx.Err():
		o.err = cause
	default:
		o.err = fmt.Errorf("%w (%w)", cause, o.err)
	}
	return o.result, o.err
}
