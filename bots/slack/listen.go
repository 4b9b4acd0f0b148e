package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/heddle-bot/heddle/bots"
)

// Limits of the connection.
const (
	maxQueued   = 1000            // envelopes that wait to be accepted; beyond it they are left to Slack to send again
	maxEnvelope = 16 << 20        // bytes
	ackWithin   = 5 * time.Second // is waited for an acknowledgement to be written; Slack waits for 3 s
	ackOffline  = 10 * time.Millisecond
	formWithin  = 3 * time.Second // a trigger opens a form no later
)

// errNoHello is a connection that was of no use.
var errNoHello = errors.New("the connection broke before slack said hello")

// Listen implements bots.Platform. It reconnects for as long as that may help; an error says what a
// person must do. Several goroutines share the work, because the library answers Slack's pings only
// while its events are taken from it at once: one takes them, one has them accepted and acknowledges
// in order, one looks up names, and one learns the names of the workspace, for which the connection
// waits a moment.
func (s *Slack) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	s.note(func(h *Health) { *h = Health{Since: time.Now()} })
	me, err := s.login(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	run, cancel := context.WithCancelCause(ctx)
	c := &connection{
		s:      s,
		client: socketmode.New(s.web.api, socketmode.OptionPingInterval(s.cfg.SilentFor), socketmode.OptionReadLimit(maxEnvelope)),
		reader: &reader{me: me, name: s.names.get},
		accept: accept,
		queue:  make(chan envelope, maxQueued),
		recent: recent{known: map[string]bool{}},
		log:    s.cfg.Logger,
		fail:   cancel,
	}
	filled := make(chan struct{})
	c.wg.Go(func() {
		s.names.fill(run, s.web, s.cfg.Logger)
		close(filled)
	})
	c.wg.Go(func() { s.names.run(run, s.web, s.cfg.Logger) })
	c.wg.Go(func() { c.take(run) })
	c.wg.Go(func() { c.deliver(run) })
	select {
	case <-filled:
	case <-time.After(namesWithin):
	case <-run.Done():
	}
	err = c.client.RunContext(run)
	if cause := context.Cause(run); cause != nil && ctx.Err() == nil {
		err = cause
	}
	cancel(nil)
	c.wg.Wait()
	c.lost(nil)
	if ctx.Err() != nil {
		return nil
	}
	if hopeless := hopeless(err); hopeless != nil {
		return hopeless
	}
	return fmt.Errorf("slack: the connection ended: %w", err)
}

// A connection is one run of Listen.
type connection struct {
	s      *Slack
	client *socketmode.Client
	reader *reader
	accept func(context.Context, bots.Event) error
	queue  chan envelope
	recent recent // of deliver
	dialed bool   // and Slack has not said hello yet; of take
	log    *slog.Logger
	fail   context.CancelCauseFunc // ends Listen
	wg     sync.WaitGroup
}

// take takes what the library has and never waits for anything else.
func (c *connection) take(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-c.client.Events:
			c.on(ev)
		}
	}
}

func (c *connection) on(ev socketmode.Event) {
	switch ev.Type {
	case socketmode.EventTypeHello:
		c.dialed = false
		c.log.Info("slack connected")
		c.s.note(func(h *Health) {
			h.Connected, h.Since, h.LastError = true, time.Now(), ""
		})
	case socketmode.EventTypeConnected:
		c.dialed = true
	case socketmode.EventTypeConnecting:
		var err error
		if c.dialed {
			err = errNoHello
		}
		c.dialed = false
		c.lost(err)
	case socketmode.EventTypeConnectionError:
		if e, ok := ev.Data.(*slack.ConnectionErrorEvent); ok {
			c.lost(e.ErrorObj)
		}
	case socketmode.EventTypeErrorBadMessage: // what the library cannot read we may
		if bad, ok := ev.Data.(*socketmode.ErrorBadMessage); ok {
			var env envelope
			if err := json.Unmarshal(bad.Message, &env); err != nil {
				c.log.Warn("slack sent what is no envelope", "err", err)
				return
			}
			c.enqueue(env)
		}
	case socketmode.EventTypeErrorWriteFailed:
		c.log.Warn("an acknowledgement was not written; slack will send again")
	default:
		if ev.Request != nil {
			c.enqueue(envelope{Type: ev.Request.Type, ID: ev.Request.EnvelopeID, Payload: ev.Request.Payload})
		}
	}
}

// lost notes that there is no connection, and gives up if there will be none.
func (c *connection) lost(err error) {
	c.s.note(func(h *Health) {
		if h.Connected {
			c.log.Info("slack disconnected")
			h.Connected, h.Since = false, time.Now()
			h.Reconnects++
		}
		if err != nil {
			h.LastError = err.Error()
		}
	})
	if err == nil {
		return
	}
	c.log.Warn("slack cannot be reached", "err", err)
	if hopeless(err) != nil {
		c.fail(err)
	}
}

func (c *connection) enqueue(env envelope) {
	if env.ID == "" {
		return
	}
	c.s.note(func(h *Health) { h.LastEvent = time.Now() })
	select {
	case c.queue <- env:
	default:
		c.log.Error("too many events wait to be accepted; one is left to slack to send again", "type", env.Type)
	}
}

// deliver has envelopes accepted one after the other, so that a thread stays in order.
func (c *connection) deliver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case env := <-c.queue:
			if c.handle(ctx, env) {
				c.ack(ctx, env)
			}
		}
	}
}

// handle reports whether env is to be acknowledged.
func (c *connection) handle(ctx context.Context, env envelope) bool {
	d, err := c.reader.read(env)
	switch {
	case err != nil:
		c.log.Warn("an event of slack is not understood", "type", env.Type, "err", err)
	case d.form != nil:
		c.wg.Go(func() { c.open(ctx, d.form) })
	case d.event != nil && !c.recent.has(eventKey(d.event)):
		if err := c.accept(ctx, d.event); err != nil {
			if ctx.Err() == nil {
				c.log.Error("an event was not accepted; slack will send again", "type", env.Type, "err", err)
			}
			return false
		}
		c.recent.add(eventKey(d.event))
	}
	return true
}

// ack has env acknowledged. Without a connection only some acknowledgements can wait for the next
// one; the rest must not hold up what else was received.
func (c *connection) ack(ctx context.Context, env envelope) {
	within := ackWithin
	if !c.s.Health().Connected {
		within = ackOffline
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := c.client.AckCtx(ctx, env.ID, nil); err != nil {
		c.log.Warn("an event was not acknowledged; slack will send again", "type", env.Type, "err", err)
	}
}

// open shows a form to whoever pressed the button.
func (c *connection) open(ctx context.Context, f *form) {
	view, err := f.view()
	if err == nil {
		err = c.show(ctx, f.trigger, view)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	c.log.Warn("a form was not opened", "err", err)
	t := c.reader.thread(f.about.Channel, f.about.Thread, f.about.Message)
	_, err = c.s.Post(ctx, t, bots.Message{For: f.by, Class: bots.Notice, Text: "The form did not open. Please press the button again."})
	if err != nil {
		c.log.Warn("a person was not told that a form did not open", "err", err)
	}
}

func (c *connection) show(ctx context.Context, trigger string, view slack.ModalViewRequest) error {
	ctx, cancel := context.WithTimeout(ctx, formWithin)
	defer cancel()
	return c.s.web.call(ctx, request{method: "views.open"}, func(ctx context.Context) error {
		_, err := c.s.web.api.OpenViewContext(ctx, trigger, view)
		return err
	})
}

// view returns the form as Slack shows it: one question, which may be left unanswered.
func (f *form) view() (slack.ModalViewRequest, error) {
	const maxTitle, maxPrivate, maxAnswer = 24, 3000, 1000
	private, err := json.Marshal(f.about)
	if err == nil && len(private) > maxPrivate {
		err = errors.New("the value of the button is too long for a form")
	}
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	field := &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: "answer", Multiline: true, MaxLength: maxAnswer}
	return slack.ModalViewRequest{
		Type:            slack.VTModal,
		CallbackID:      formID,
		PrivateMetadata: string(private),
		Title:           plainText(f.title, maxTitle),
		Submit:          plainText("Send", maxTitle),
		Close:           plainText("Cancel", maxTitle),
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock("question", plainText(f.ask, maxValue), nil, field).WithOptional(true),
		}},
	}, nil
}
