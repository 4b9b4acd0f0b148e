package slacktest

import (
	"slices"
	"strings"
	"time"
)

// A Stream is how it stands with a message that is streamed. The zero Stream is of one that is not.
type Stream struct {
	State  string // "open", "ended" by the bot, or "stopped" by a person
	Title  string // of the plan
	Tasks  []Task // in the order in which they came
	chunks bool   // it was started with chunks
	plain  bool   // it was started with markdown_text
	until  time.Time

	replaced bool // an edit has taken the place of what was streamed
}

// A Task is one step that a stream shows.
type Task struct{ ID, Title, Status, Details, Output string }

// streamFor is how long Slack lets a message be streamed.
const streamFor = 5 * time.Minute

func (s Stream) open(now time.Time) bool { return s.State == "open" && now.Before(s.until) }

// shown returns the tasks as a person sees them, one a line with its details below.
func (s Stream) shown() string {
	var lines []string
	if s.Title != "" {
		lines = append(lines, s.Title)
	}
	for _, t := range s.Tasks {
		sign := map[string]string{"in_progress": "▸", "complete": "✓", "error": "✗"}[t.Status]
		lines = append(lines, strings.TrimSpace(sign+" "+t.Title))
		for _, more := range []string{t.Details, t.Output} {
			if more != "" {
				lines = append(lines, "  "+strings.ReplaceAll(more, "\n", "\n  "))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// A piece is what one call adds to a stream.
type piece struct {
	markdown string
	chunks   []any // nil are none
	has      bool  // there is something
}

// chunkKinds is what a stream may be made of.
func chunkKinds() map[string]fields {
	source := kinds(map[string]fields{"url": {"url!": words(1, maxURL), "text!": words(1, 2000)}})
	return map[string]fields{
		"markdown_text": {"text!": words(1, maxMarkdown)},
		"plan_update":   {"title!": words(1, 2000)},
		"task_update": {"id!": words(1, maxID), "title!": words(1, 2000), "status": taskStatus, "details": words(0, 3000),
			"output": words(0, 3000), "sources": list(0, 50, source)},
		"blocks": {"blocks!": checkBlocks(inStream)},
	}
}

func readPiece(c call) (p piece, no *refused) {
	p.markdown = c.args.Get("markdown_text")
	p.has = p.markdown != ""
	raw := c.args.Get("chunks")
	switch {
	case length(p.markdown) > maxMarkdown:
		return p, refuse("msg_blocks_too_long")
	case raw == "":
		return p, nil
	case p.has:
		return p, refuse("cannot_provide_both_markdown_text_and_chunks")
	}
	chunks, ok := decode(raw)
	if !ok {
		return p, refuse("invalid_chunks")
	}
	var found checker
	list(1, 100, kinds(chunkKinds()))(&found, "/chunks", chunks)
	if found.problems != nil {
		return p, refuse("invalid_chunks", found.problems...)
	}
	if size(chunks) > maxBlockText {
		return p, refuse("msg_blocks_too_long")
	}
	p.chunks, p.has = chunks, true
	return p, nil
}

// add puts a piece to the end of a stream. It must go on as it began, with markdown or with chunks.
func (m *Message) add(p piece) *refused {
	s := &m.Stream
	if p.chunks != nil && s.plain || p.markdown != "" && s.chunks {
		return refuse("streaming_mode_mismatch")
	}
	n := len(m.blocks)
	for _, c := range p.chunks {
		n += len(objects(c, "blocks"))
	}
	if n > maxMessageBlocks {
		return refuse("msg_blocks_too_many")
	}
	s.chunks, s.plain = s.chunks || p.chunks != nil, s.plain || p.markdown != ""
	m.Fallback += p.markdown
	for _, c := range p.chunks {
		switch str(c, "type") {
		case "markdown_text":
			m.Fallback += str(c, "text")
		case "plan_update":
			s.Title = str(c, "title")
		case "task_update":
			s.task(Task{str(c, "id"), str(c, "title"), str(c, "status"), str(c, "details"), str(c, "output")})
		case "blocks":
			blocks, _ := dig(c, "blocks").([]any)
			m.blocks = slices.Concat(m.blocks, blocks)
		}
	}
	m.show()
	return nil
}

// task adds a task, or changes the one of that id. Details and output go on where they were.
func (s *Stream) task(t Task) {
	s.Tasks = slices.Clone(s.Tasks) // somebody may be reading the old ones
	i := slices.IndexFunc(s.Tasks, func(o Task) bool { return o.ID == t.ID })
	if i < 0 {
		s.Tasks = append(s.Tasks, t)
		return
	}
	was := &s.Tasks[i]
	if t.Status == "" {
		t.Status = was.Status
	}
	*was = Task{t.ID, t.Title, t.Status, was.Details + t.Details, was.Output + t.Output}
}

func startStream(w *Workspace, c call) (map[string]any, *refused) {
	ch, no := w.place(c, "channel")
	if no != nil {
		return nil, no
	}
	p, no := readPiece(c)
	user := c.args.Get("recipient_user_id")
	switch mode := c.args.Get("task_display_mode"); {
	case no != nil:
		return nil, no
	case ch.kind != "im" && c.args.Get("recipient_team_id") == "":
		return nil, refuse("missing_recipient_team_id")
	case ch.kind != "im" && user == "":
		return nil, refuse("missing_recipient_user_id")
	case user != "" && w.users[user] == nil:
		return nil, refuse("user_not_found")
	case mode != "" && !slices.Contains([]string{"timeline", "plan", "dense"}, mode):
		return nil, refuse("invalid_arguments", "must be a valid enum value [json-pointer:/task_display_mode]")
	case w.cfg.NoStreams:
		return nil, refuse("channel_type_not_supported")
	}
	thread := ch.thread(c.args.Get("thread_ts"))
	if thread == "" {
		return nil, refuse("thread_not_found")
	}
	m := &Message{TS: w.next(), User: BotUser, Thread: thread}
	m.Stream = Stream{State: "open", until: time.Now().Add(w.cfg.StreamFor)}
	if no := m.add(p); no != nil {
		return nil, no
	}
	post(w, ch, m)
	return map[string]any{"channel": ch.id, "ts": m.TS}, nil
}

// streaming returns the message that a call goes on with.
func streaming(w *Workspace, c call) (*channel, *Message, *refused) {
	ch, no := w.place(c, "channel")
	if no != nil {
		return nil, nil, no
	}
	m, no := ch.own(c.args.Get("ts"), "message_not_owned_by_app")
	if no == nil && m.Stream.State != "stopped" && !m.Stream.open(time.Now()) {
		no = refuse("message_not_in_streaming_state")
	}
	return ch, m, no
}

func appendStream(w *Workspace, c call) (map[string]any, *refused) {
	ch, m, no := streaming(w, c)
	if no != nil {
		return nil, no
	}
	p, no := readPiece(c)
	switch {
	case m.Stream.State == "stopped":
		return nil, refuse("stopped_by_user")
	case no != nil:
		return nil, no
	case !p.has:
		return nil, refuse("markdown_text_or_chunks_required")
	}
	if no := m.add(p); no != nil {
		return nil, no
	}
	return map[string]any{"channel": ch.id, "ts": m.TS}, nil
}

func stopStream(w *Workspace, c call) (map[string]any, *refused) {
	ch, m, no := streaming(w, c)
	if no != nil {
		return nil, no
	}
	if m.Stream.State == "stopped" {
		return nil, refuse("message_not_in_streaming_state")
	}
	p, no := readPiece(c)
	if no != nil {
		return nil, no
	}
	blocks, no := readBlocks(c, inMessage)
	if no != nil {
		return nil, no
	}
	metadata, no := readMetadata(c)
	if no != nil {
		return nil, no
	}
	before := m.json()
	if no := m.add(p); no != nil {
		return nil, no
	}
	m.blocks = slices.Concat(m.blocks, blocks) // those of chunks have a limit of their own
	if metadata != nil {
		m.metadata, m.Key = metadata, metadataKey(metadata)
	}
	m.Stream.State = "ended"
	m.show()
	w.Socket.Event(changedEvent(ch, m, before, w.next()))
	return map[string]any{"channel": ch.id, "ts": m.TS, "message": m.json()}, nil
}
