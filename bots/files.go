package bots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
)

// This file is what goes between a network and the agent beside words: files, and what was said in a
// thread before the agent was asked.

// Sources returns where the agent reads what messages of the platforms bring along.
func Sources(all ...Platform) agent.Sources {
	return agent.Sources{
		Earlier: func(ctx context.Context, session, before string, most int) ([]agent.Quote, bool, error) {
			at, info, err := threadOf(all, session)
			if err != nil {
				return nil, false, err
			}
			ask := info.Earlier
			if ask == nil {
				return nil, false, fmt.Errorf("%s does not tell what was said before", at.Platform)
			}
			said, left, err := ask(ctx, at, before, most)
			return quotes(said), left, err
		},
		Fetch: func(ctx context.Context, session, ref string) (io.ReadCloser, error) {
			at, info, err := threadOf(all, session)
			if err != nil {
				return nil, err
			}
			open := info.Fetch
			if open == nil {
				return nil, fmt.Errorf("%s has no files", at.Platform)
			}
			return open(ctx, ref)
		},
	}
}

// threadOf returns the thread of a session, and what is to be known of its network.
func threadOf(all []Platform, session string) (Thread, Info, error) {
	at, err := ParseThread(session)
	if err != nil {
		return at, Info{}, err
	}
	for _, p := range all {
		if info := p.Info(); info.Name == at.Platform {
			return at, info, nil
		}
	}
	return at, Info{}, fmt.Errorf("%s is a thread of a network that is not connected", session)
}

func quotes(said []Said) []agent.Quote {
	var all []agent.Quote
	for _, m := range said {
		q := agent.Quote{By: user(m.By), Text: m.Text}
		for _, f := range m.Files {
			q.Files = append(q.Files, f.Name)
		}
		all = append(all, q)
	}
	return all
}

func attached(files []File) []agent.File {
	var all []agent.File
	for _, f := range files {
		all = append(all, agent.File{Ref: f.Ref, Name: f.Name, Type: f.Type, Size: f.Size})
	}
	return all
}

// missed reports whether people are to be told of a file.
func missed(a agent.Attachment) bool { return a.Kind == agent.NoFile || a.Path == "" }

// unread returns what is told of the files that were not taken in, or not saved.
func unread(l look, e *agent.Attached) string {
	var lines []string
	for _, a := range e.Files {
		switch {
		case a.Kind == agent.NoFile:
			lines = append(lines, "I could not take in the file "+l.code(a.Name)+": "+l.code(a.Detail))
		case missed(a):
			lines = append(lines, "I could not save the file "+l.code(a.Name)+" in the workspace: "+l.code(a.Detail))
		}
	}
	return l.md(strings.Join(lines, "\n"))
}

// A mailing is a file that a call sends.
type mailing struct {
	call *call
	at   time.Time
}

// mailed is the message that shows a file which a call sends. Its content is added when it is posted.
func mailed(l look, m *mailing) wanted {
	f := m.call.result.Sent
	return wanted{
		Message:  Message{Class: Notice, Text: l.md(l.code(f.Name))},
		artefact: f.Artefact,
		file:     l.mask(f.Name),
		cause:    m.at,
		once:     true,
		lost:     lostFile,
	}
}

// upload adds the file to a message that is to be posted. An error that is permanent is a refusal.
func (p *painter) upload(ctx context.Context, m *wanted) error {
	if m.artefact == "" {
		return nil
	}
	c := p.bot.cfg
	if c.Artefact == nil {
		return &Error{Permanent: true, Err: errNoFiles}
	}
	content, err := c.Artefact(ctx, m.artefact)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Permanent: true, Err: err}
	case err != nil:
		return &Error{Err: err}
	case c.Redact(string(content)) != string(content): // it became a secret since it was approved
		return &Error{Permanent: true, Err: errSecret}
	}
	m.Upload = &Upload{Name: m.file, Content: content}
	return nil
}

var (
	errNoFiles = errors.New("no files are kept here")
	errSecret  = errors.New("it holds a secret of this service")
)
