package slack

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// formWithin is how long a trigger opens a form.
const formWithin = 3 * time.Second

// A form asks a person something beside a button.
type form struct {
	trigger string // opens it, for three seconds
	by      string
	title   string
	about   about
	ask     string
}

// An about is what a form that comes back is about. It travels in the form's private_metadata.
type about struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread"`
	Message string `json:"message"`
	Action  string `json:"action"`
	Value   string `json:"value"`
}

// formID is the callback_id of our forms.
const formID = "heddle.ask"

// open shows a form to whoever pressed the button.
func (in *intake) open(ctx context.Context, f *form) {
	view, err := f.view()
	if err == nil {
		err = in.show(ctx, f.trigger, view)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	in.log.Warn("a form was not opened", "err", err)
	t := in.reader.thread(f.about.Channel, f.about.Thread, f.about.Message)
	_, err = in.s.Post(ctx, t, bots.Message{For: f.by, Class: bots.Notice, Text: "The form did not open. Please press the button again."})
	if err != nil {
		in.log.Warn("a person was not told that a form did not open", "err", err)
	}
}

func (in *intake) show(ctx context.Context, trigger string, view slack.ModalViewRequest) error {
	ctx, cancel := context.WithTimeout(ctx, formWithin)
	defer cancel()
	return in.s.web.call(ctx, request{method: "views.open"}, func(ctx context.Context) error {
		_, err := in.s.web.api.OpenViewContext(ctx, trigger, view)
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
