package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"

	"github.com/heddle-bot/heddle/tools"
)

// This file is send_file. It changes nothing in the workspace; it is an Action because what is in a
// thread cannot be taken back.

type sendArgs struct {
	Path string `json:"path" schema:"minLength=1"`
	Name string `json:"name,omitempty" schema:"maxLength=100"`
}

// An outgoing is a file that is to be sent, as it is now.
type outgoing struct {
	rel  string // in the workspace
	name string // in the thread
	data []byte
}

func sendTool(c Config) (tools.Tool, error) {
	t, err := tools.Define[sendArgs]("send_file", tools.Action)
	t.Timeout = readTimeout
	t.Title = title(func(a sendArgs) string { return "send " + a.Path })
	t.Preview = func(ctx context.Context, call tools.Call) (tools.Preview, error) {
		o, binding, err := c.outgoing(ctx, call)
		if err != nil {
			return tools.Preview{}, err
		}
		return tools.Preview{Kind: tools.Text, Text: o.describe(), Digest: binding}, nil
	}
	t.Run = func(ctx context.Context, call tools.Call) (tools.Result, error) {
		o, binding, err := c.outgoing(ctx, call)
		if err != nil {
			return tools.Result{}, err
		}
		if call.Digest != "" && call.Digest != binding {
			return tools.Result{}, fmt.Errorf("%s: %w", o.rel, tools.ErrChanged)
		}
		n := size(int64(len(o.data)))
		return tools.Result{
			Text: fmt.Sprintf("%s is sent to the thread as %s, %s", o.rel, o.name, n),
			Note: n,
			Send: &tools.File{Name: o.name, Content: o.data},
		}, nil
	}
	return t, err
}

// outgoing reads the file of a call. The binding is the digest of all that is approved.
func (c Config) outgoing(ctx context.Context, call tools.Call) (*outgoing, string, error) {
	args, err := tools.Decode[sendArgs](call.Args)
	if err != nil {
		return nil, "", err
	}
	w, err := openWorkspace(call)
	if err != nil {
		return nil, "", err
	}
	defer w.Close()
	rel, err := w.resolve(args.Path)
	if err != nil {
		return nil, "", err
	}
	f, info, err := w.open(rel)
	if err != nil {
		return nil, "", w.explain(ctx, args.Path, rel, c.Skip, err)
	}
	defer f.Close()
	tooLarge := fmt.Errorf("%s has %s, and at most %s can be sent", rel, size(info.Size()), size(c.MaxSend))
	if info.Size() > c.MaxSend {
		return nil, "", tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, c.MaxSend+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("reading %s: %w", rel, err)
	case int64(len(data)) > c.MaxSend: // it grows
		return nil, "", tooLarge
	case len(data) == 0:
		return nil, "", fmt.Errorf("%s is empty: there is nothing to send", rel)
	case call.Masked(string(data)) != string(data):
		return nil, "", fmt.Errorf("%s holds a secret of this service: it %w", rel, errSecret)
	}
	o := &outgoing{rel: rel, name: tools.Clip(path.Base(rel), maxTitle), data: data}
	switch name := tools.Clip(path.Base(args.Name), maxTitle); name {
	case "", ".", "/": // names no file
	default:
		o.name = name
	}
	return o, tools.Digest("send_file", tools.Canonical(call.Args), w.dir, rel, "sha256:"+digest(data)), nil
}

var errSecret = errors.New("is not sent, and neither is a copy that hides it")

// describe says what would be sent.
func (o *outgoing) describe() string {
	return fmt.Sprintf("Send a file to everybody in this thread.\n\nfile    %s\nname    %s\nsize    %d bytes\ntype    %s\nsha256  %s\n",
		o.rel, o.name, len(o.data), http.DetectContentType(o.data), digest(o.data))
}
