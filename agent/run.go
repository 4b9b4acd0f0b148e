package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/tools"
)

// A runner is a worker while it deals with the calls of a reply. The session is locked in each
// method, but for what runs in unlocked.
type runner struct {
	*worker
	settings Settings
}

// maxPreview bounds what a person is asked to approve, in bytes: nobody reads more, and all of it is
// to be shown.
const maxPreview = 64 << 10

// approval asks the people whether a call may run. A call that cannot work is not asked about.
func (w runner) approval(ctx context.Context, c Call, again bool) error {
	tool, call, err := w.call(c)
	if err != nil {
		return err
	}
	var p tools.Preview
	w.l.unlocked(func() { p, err = preview(ctx, tool, call) })
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return w.l.work(unlessMoved, w.finished(c, tool, Failed, err.Error()))
	}
	if len(p.Text) > maxPreview {
		return w.l.work(unlessMoved, w.finished(c, tool, Failed, note("too large")))
	}
	return w.l.work(unlessMoved, ApprovalAsked{
		Call:      c.ID,
		Tool:      tool.Name,
		Title:     w.title(tool, call.Args),
		Kind:      p.Kind,
		Preview:   w.cfg.Redact(p.Text),
		Dir:       w.settings.Dir,
		Digest:    p.Digest,
		Expires:   time.Now().Add(w.settings.Limits.Approval).UTC(),
		Approvers: w.settings.Approvers,
		Again:     again,
	})
}

// preview is Tool.Preview within the tool's time limit. A panic in it is an error.
func preview(ctx context.Context, t *tools.Tool, c tools.Call) (p tools.Preview, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a fault in tool %s: %v", t.Name, r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, tools.DefaultTimeout)
	defer cancel()
	return t.Preview(ctx, c)
}

// A job is a call on its way through run.
type job struct {
	Call
	tool   *tools.Tool
	args   tools.Call
	result tools.Result
	err    error
	took   time.Duration
}

// maxParallel bounds the calls of one reply that run together.
const maxParallel = 8

// run runs calls, together. A call that a person approved runs only if it would still do what the
// person saw.
func (w runner) run(ctx context.Context, do RunTools) error {
	if !w.claimSlot(ctx) {
		return nil
	}
	jobs := make([]*job, len(do.Calls))
	var started []any
	for i, c := range do.Calls {
		tool, call, err := w.call(c)
		if err != nil {
			return err
		}
		jobs[i] = &job{Call: c, tool: tool, args: call}
		started = append(started, ToolStarted{c.ID, w.title(tool, call.Args)})
	}
	if do.Asked != nil {
		j := jobs[0]
		var p tools.Preview
		var err error
		w.l.unlocked(func() { p, err = preview(ctx, j.tool, j.args) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil || p.Digest != do.Asked.Digest {
			return w.approval(ctx, j.Call, true)
		}
		j.args.Digest = do.Asked.Digest
	}
	if err := w.l.work(unlessMoved, started...); err != nil {
		return err
	}
	ctx, cancel := w.toolContext(ctx, do.Left)
	defer cancel()
	w.l.unlocked(func() { w.together(ctx, jobs) })
	return w.l.work(unlessFenced, w.results(ctx, jobs)...)
}

// toolContext ends with ctx's cause, but for a shutdown: then tools have the time of grace.
func (w runner) toolContext(ctx context.Context, left time.Duration) (context.Context, func()) {
	tools, cancel := context.WithCancelCause(w.hard)
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, errShutdown) {
			cancel(cause)
		}
	})
	tools, done := context.WithTimeoutCause(tools, left, errTimeUp)
	return tools, func() { stop(); done(); cancel(nil) }
}

func (w runner) together(ctx context.Context, jobs []*job) {
	var wg sync.WaitGroup
	limit := make(chan struct{}, maxParallel)
	for _, j := range jobs {
		limit <- struct{}{}
		wg.Go(func() {
			w.do(ctx, j)
			<-limit
		})
	}
	wg.Wait()
}

// do runs one call and shows that it runs.
func (w runner) do(ctx context.Context, j *job) {
	begin := time.Now()
	title := w.title(j.tool, j.args.Args)
	w.l.show(func(n *now) { n.calls = append(n.calls, LiveCall{ID: j.ID, Title: title, Since: begin}) })
	j.args.Progress = func(tail string) {
		tail = w.cfg.Redact(tail)
		w.l.show(func(n *now) {
			for i := range n.calls {
				if n.calls[i].ID == j.ID {
					n.calls[i].Tail = tail
				}
			}
		})
	}
	j.result, j.err = tools.Run(ctx, j.tool, j.args)
	j.took = time.Since(begin)
	var fault *tools.PanicError
	if errors.As(j.err, &fault) || errors.Is(j.err, tools.ErrAbandoned) {
		w.cfg.Logger.Error("tool is at fault", "session", w.l.id, "call", j.ID, "tool", j.tool.Name, "err", j.err)
	}
	w.l.show(func(n *now) {
		n.calls = slices.DeleteFunc(n.calls, func(c LiveCall) bool { return c.ID == j.ID })
	})
}

// results returns the events of finished jobs, in the model's order.
func (w runner) results(ctx context.Context, jobs []*job) []any {
	limit := w.settings.Limits.Output
	var events []any
	for _, j := range jobs {
		status, text := j.outcome(context.Cause(ctx))
		f := w.finished(j.Call, j.tool, status, text)
		if j.result.Note != "" {
			f.Note = w.cfg.Redact(j.result.Note)
		}
		f.Seen, f.Took = j.result.Seen, j.took
		if len(f.Text) > limit {
			f.Text, f.Artefact = w.shorten(ctx, f.Text, limit)
		}
		if status == OK && j.result.Send != nil {
			w.send(ctx, &f, j.result.Send)
		}
		events = append(events, f)
	}
	return events
}

// send keeps a file for the thread. What cannot be kept is not sent, and the call has failed.
func (w runner) send(ctx context.Context, f *ToolFinished, file *tools.File) {
	err := errors.New("nothing is kept here")
	var name string
	if w.cfg.Artefacts != nil {
		name, err = w.cfg.Artefacts.PutArtefact(context.WithoutCancel(ctx), file.Content)
	}
	if err != nil {
		w.cfg.Logger.Error("file for the thread not kept", "session", w.l.id, "err", err)
		f.Status, f.Text, f.Note = Failed, note("not sent"), ""
		return
	}
	f.Sent = &Sent{Name: w.cfg.Redact(file.Name), Artefact: name, Size: int64(len(file.Content))}
}

// outcome returns how the call went, and what the model is told.
func (j *job) outcome(cause error) (Status, string) {
	status, word := OK, ""
	switch {
	case j.err == nil && j.result.Failed:
		status = Failed
	case j.err == nil:
	case errors.Is(cause, errStop):
		status, word = Stopped, note("call stopped")
	case errors.Is(cause, errTimeUp):
		status, word = TimedOut, note("turn time up")
	case errors.Is(cause, errShutdown):
		status, word = Interrupted, note("interrupted")
	case errors.Is(j.err, tools.ErrTimeout):
		status, word = TimedOut, j.err.Error()
	case errors.Is(j.err, tools.ErrChanged):
		status, word = Failed, note("changed")
	default:
		status, word = Failed, j.err.Error()
	}
	text := j.result.Text
	if text != "" && word != "" {
		text += "\n"
	}
	return status, text + word
}

// title returns the tool's title of a call. It is masked before it is cut.
func (w *worker) title(t *tools.Tool, args json.RawMessage) string {
	return t.Title(json.RawMessage(w.cfg.Redact(string(args))))
}

// finished returns the result of a call.
func (w *worker) finished(c Call, t *tools.Tool, s Status, text string) ToolFinished {
	f := ToolFinished{Call: c.ID, Status: s, Text: w.cfg.Redact(text), Tool: c.Tool}
	if s == Failed {
		f.Note, _, _ = strings.Cut(f.Text, "\n") // people want to know why, too
	}
	if t != nil {
		if _, args, err := w.cfg.Tools.Check(c.Tool, c.Args); err == nil {
			f.Title = w.title(t, args)
		}
	}
	return f
}

// refusal returns the result of a call that did not run, or of which nothing is known.
func (w *worker) refusal(do Refuse) ToolFinished {
	text := do.Reason
	switch {
	case do.Status == Denied && do.Reason != "":
		text = note("denied because") + " " + do.Reason
	case do.Status == Expired && w.l.s.turn.call(do.Call.ID).asks():
		text = note("unanswered")
	case do.Status == NotStarted && w.l.s.turn.call(do.Call.ID).asks():
		text = note("not answered")
	case do.Status == Denied, do.Status == Expired, do.Status == Interrupted, do.Status == NotStarted:
		text = note(string(do.Status))
	}
	tool, _, err := w.cfg.Tools.Check(do.Call.Tool, do.Call.Args)
	if err != nil {
		tool = nil
	}
	return w.finished(do.Call, tool, do.Status, text)
}

// shorten keeps the whole of text as an artefact and returns what the model is shown of it. Should
// the artefact fail to be kept, the model is told only that there was more.
func (w runner) shorten(ctx context.Context, text string, limit int) (shown, name string) {
	if w.cfg.Artefacts != nil {
		var err error
		name, err = w.cfg.Artefacts.PutArtefact(context.WithoutCancel(ctx), []byte(text))
		if err != nil {
			w.cfg.Logger.Error("tool output not kept", "session", w.l.id, "err", err)
			name = ""
		}
	}
	return tools.Cap(text, limit, name), name
}

// call returns the tool that c names and what it gets.
func (w runner) call(c Call) (*tools.Tool, tools.Call, error) {
	tool, args, err := w.cfg.Tools.Check(c.Tool, c.Args)
	if err != nil {
		return nil, tools.Call{}, err // Next has seen that it is valid
	}
	own := maps.Clone(w.l.s.files.artefacts)
	return tool, tools.Call{
		ID:      c.ID,
		Session: w.l.id,
		Args:    args,
		Dir:     w.settings.Dir,
		Hidden:  w.settings.Hidden,
		Seen:    maps.Clone(w.l.s.files.seen),
		Mask:    w.cfg.Redact,
		Artefact: func(name string) ([]byte, error) {
			if !own[name] || w.cfg.Artefacts == nil {
				return nil, fmt.Errorf("artefact %s: %w", name, fs.ErrNotExist)
			}
			return w.cfg.Artefacts.Artefact(context.WithoutCancel(w.hard), name)
		},
	}, nil
}
