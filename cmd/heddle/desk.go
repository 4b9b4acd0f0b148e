package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/heddle-bot/heddle/internal/redact"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

// A question is what a person at the command line asks of the log.
type question struct {
	Ask     string `json:"ask"`               // one of the constants below
	Session string `json:"session,omitempty"` // of show; of export, where none is all
	Prefix  string `json:"prefix,omitempty"`  // of list: session ids that begin so
	Limit   int    `json:"limit,omitempty"`   // of list: at most so many; 0 is no limit
}

// What may be asked.
const (
	askList   = "sessions list"
	askShow   = "sessions show"
	askExport = "sessions export"
	askBackup = "backup"
	askCheck  = "store check"
)

// A desk answers questions, in the process that has the log open: this one, or a heddle that serves.
type desk struct {
	store  *bolt.Store
	redact *redact.Redactor
}

// answer writes the answer to w. Text is masked: the log may hold what became a secret later.
func (d desk) answer(ctx context.Context, q question, w io.Writer) error {
	text := d.redact.Writer(w)
	switch q.Ask {
	case askList:
		return d.list(ctx, q, text)
	case askShow:
		return d.show(ctx, q.Session, text)
	case askExport:
		return d.export(ctx, q.Session, text)
	case askBackup:
		return d.store.Backup(ctx, w)
	case askCheck:
		report, err := checkCopy(ctx, d.store)
		if err != nil {
			return err
		}
		return writeReport(report, w)
	}
	return fmt.Errorf("this heddle does not know %q: the one that serves is of another version than the one that asks", q.Ask)
}

func (d desk) list(ctx context.Context, q question, w io.Writer) error {
	for sum, err := range d.store.Sessions(ctx, store.Query{Prefix: q.Prefix, Limit: q.Limit}) {
		if err != nil {
			return err
		}
		state := "open"
		switch {
		case sum.Free && !sum.Due.IsZero():
			state = "waits"
		case sum.Free:
			state = "idle"
		}
		_, err = fmt.Fprintf(w, "%s  %-5s  %5d events  %s\n",
			sum.Updated.UTC().Format(time.DateTime), state, sum.Events, plain(sum.Session))
		if err != nil {
			return err
		}
	}
	return nil
}

func (d desk) show(ctx context.Context, session string, w io.Writer) error {
	var n int
	for e, err := range d.store.Read(ctx, session, 0) {
		if err != nil {
			return err
		}
		n++
		for _, ev := range e.Events {
			text, err := story(ev)
			if err != nil {
				return fmt.Errorf("position %d: %w", e.Pos, err)
			}
			if text == "" {
				continue
			}
			if _, err := io.WriteString(w, indent(e.Time.UTC().Format(time.DateTime)+"  ", plain(text))); err != nil {
				return err
			}
		}
	}
	if n == 0 {
		return unknownSession(session)
	}
	return nil
}

func unknownSession(session string) error {
	return fmt.Errorf("there is no session %q: \"heddle sessions list\" names them", session)
}

func (d desk) export(ctx context.Context, session string, w io.Writer) error {
	if session != "" {
		n, err := store.Export(ctx, d.store, session, w)
		if err == nil && n == 0 {
			err = unknownSession(session)
		}
		return err
	}
	for sum, err := range d.store.Sessions(ctx, store.Query{}) {
		if err == nil {
			_, err = store.Export(ctx, d.store, sum.Session, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes what a check has found. Problems are an error too.
func writeReport(r bolt.Report, w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d sessions, %d frames, %d events, %d artefacts, %d bytes\n",
		r.Sessions, r.Frames, r.Events, r.Artefacts, r.Size)
	if err != nil || len(r.Problems) == 0 {
		return err
	}
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(w, "problem:", plain(p)); err != nil {
			return err
		}
	}
	if r.More > 0 {
		if _, err := fmt.Fprintf(w, "and %d more\n", r.More); err != nil {
			return err
		}
	}
	return errors.New("the log is damaged: stop heddle, keep a copy of the file, and go back to the latest backup")
}
