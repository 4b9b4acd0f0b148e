package slack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// A file is brought into a thread in three calls. The message under which it then stands is made by
// Slack, without metadata, so it is found again by the name of the file, which holds the message's key.

// uploadName is the file's name: as it was given, behind what tells it from others of that name.
func uploadName(m bots.Message) string {
	sum := sha256.Sum256([]byte(m.Key))
	return hex.EncodeToString(sum[:4]) + "-" + m.Upload.Name
}

// upload posts a message that has a file. Slack does not tell the message's id, so it gets one that
// nothing can be done with.
func (w *web) upload(ctx context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	if m.Code != "" || len(m.Buttons) > 0 || m.For != "" || len(m.Upload.Content) == 0 {
		return "", &bots.Error{Permanent: true, Err: errors.New("a file with code, with buttons, for one person or without content cannot be posted")}
	}
	name := uploadName(m)
	if m.Unsure {
		id, err := w.look(ctx, t, func(old slack.Message) bool {
			for _, f := range old.Files {
				if f.Name == name {
					return true
				}
			}
			return false
		})
		if id != "" || err != nil {
			return id, err
		}
	}
	id, err := w.send(ctx, name, m)
	if err == nil {
		err = w.call(ctx, request{method: "files.completeUploadExternal", class: m.Class}, func(ctx context.Context) error {
			_, err := w.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
				Files:   []slack.FileSummary{{ID: id, Title: m.Upload.Name}},
				Channel: t.Channel, ThreadTimestamp: t.ID, InitialComment: m.Text,
			})
			return err
		})
	}
	if err != nil {
		return "", noFiles(err)
	}
	return bots.MessageID("file/" + id), nil
}

// send brings the content to Slack, where nobody sees it yet. It may be repeated.
func (w *web) send(ctx context.Context, name string, m bots.Message) (id string, err error) {
	err = w.call(ctx, request{method: "files.getUploadURLExternal", class: m.Class}, func(ctx context.Context) error {
		to, err := w.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{FileName: name, FileSize: len(m.Upload.Content)})
		if err != nil {
			return err
		}
		id = to.FileID
		return w.api.UploadToURL(ctx, slack.UploadToURLParameters{
			UploadURL: to.UploadURL, Reader: bytes.NewReader(m.Upload.Content), Filename: name,
		})
	})
	if e, ok := errors.AsType[*bots.Error](err); ok {
		e.Unsure = false
	}
	return id, err
}

// noFiles sorts the failure of an upload: an app that was installed before it had the right to files
// still works, without them.
func noFiles(err error) error {
	refused, ok := errors.AsType[slack.SlackErrorResponse](err)
	if e, isOurs := errors.AsType[*bots.Error](err); ok && isOurs && refused.Err == "missing_scope" {
		e.Permanent = true
		e.Err = fmt.Errorf("%w: add files:write under “OAuth & Permissions” and reinstall the app", e.Err)
	}
	return err
}
