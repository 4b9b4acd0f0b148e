package llmtest

import (
	"strconv"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A wire writes an answer in the form of one API. All but whole return what goes into the stream.
type wire interface {
	piece(d llm.Delta) string
	call(i int, c llm.Call) string
	finish(r Reply) string
	whole(r Reply) string // the answer without a stream
}

func data(o object) string { return "data: " + o.String() + "\n\n" }

// halves cuts the arguments of a call into two pieces, and a piece that names it before them.
func halves(args string) []string { return []string{args[:len(args)/2], args[len(args)/2:]} }

// chatWire writes Chat Completions.
type chatWire struct{ model string }

func (w *chatWire) chunk(delta object, finish any) string {
	return data(object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": w.model,
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
	})
}

func (w *chatWire) piece(d llm.Delta) string {
	if d.Reasoning != "" {
		return w.chunk(object{"reasoning_content": d.Reasoning}, nil)
	}
	return w.chunk(object{"content": d.Text}, nil)
}

func (w *chatWire) call(i int, c llm.Call) string {
	out := w.chunk(object{"tool_calls": []object{{
		"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""},
	}}}, nil)
	for _, half := range halves(string(c.Args)) {
		out += w.chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": half}}}}, nil)
	}
	return out
}

func (w *chatWire) finish(r Reply) string {
	return w.chunk(object{}, finishReason(r.Stop)) + data(object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": w.model,
		"choices": []object{}, "usage": chatUsage(r.Usage),
	}) + "data: [DONE]\n\n"
}

func (w *chatWire) whole(r Reply) string {
	calls := []object{}
	for _, c := range r.Calls {
		calls = append(calls, object{"id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": string(c.Args)}})
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "model": w.model, "usage": chatUsage(r.Usage),
		"choices": []object{{"index": 0, "finish_reason": finishReason(r.Stop), "message": object{
			"role": "assistant", "content": r.Text, "reasoning_content": r.Reasoning, "tool_calls": calls,
		}}},
	}.String()
}

func finishReason(s llm.Stop) string {
	switch s {
	case llm.ToolUse:
		return "tool_calls"
	case llm.MaxTokens:
		return "length"
	case llm.Filtered:
		return "content_filter"
	}
	return "stop"
}

func chatUsage(u llm.Usage) object {
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Total(),
		"prompt_tokens_details":     object{"cached_tokens": u.Cached},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

// responsesWire writes the Responses API: the same in more events.
type responsesWire struct {
	model  string
	seq    int
	output []object // the items so far
	said   strings.Builder
}

// event is one event, with its name before it as OpenAI sends it.
func (w *responsesWire) event(kind string, fields object) string {
	out := ""
	if w.seq == 0 && kind != "response.created" {
		out = w.event("response.created", object{"response": object{
			"id": "resp_1", "object": "response", "status": "in_progress", "model": w.model, "output": []object{},
		}})
	}
	fields["type"] = kind
	fields["sequence_number"] = w.seq
	w.seq++
	return out + "event: " + kind + "\n" + data(fields)
}

// item adds an item and writes the event that begins it.
func (w *responsesWire) item(o object) string {
	w.output = append(w.output, o)
	return w.event("response.output_item.added", object{"output_index": len(w.output) - 1, "item": o})
}

func (w *responsesWire) done() string {
	i := len(w.output) - 1
	return w.event("response.output_item.done", object{"output_index": i, "item": w.output[i]})
}

func (w *responsesWire) piece(d llm.Delta) string {
	if d.Reasoning != "" {
		return w.think(d.Reasoning)
	}
	return w.text(d.Text)
}

func (w *responsesWire) text(s string) string {
	out := ""
	if w.said.Len() == 0 {
		out = w.item(message("", "in_progress"))
	}
	w.said.WriteString(s)
	return out + w.event("response.output_text.delta", object{
		"item_id": "msg_1", "output_index": len(w.output) - 1, "content_index": 0, "delta": s,
	})
}

func message(text, status string) object {
	return object{"id": "msg_1", "type": "message", "role": "assistant", "status": status,
		"content": []object{{"type": "output_text", "text": text, "annotations": []object{}}}}
}

// close ends the message that is being written, if there is one.
func (w *responsesWire) close() string {
	if w.said.Len() == 0 {
		return ""
	}
	w.output[len(w.output)-1] = message(w.said.String(), "completed")
	w.said.Reset()
	return w.done()
}

func (w *responsesWire) think(s string) string {
	out := w.close()
	id := "rs_" + strconv.Itoa(len(w.output))
	out += w.item(object{"id": id, "type": "reasoning", "summary": []object{}})
	out += w.event("response.reasoning_summary_text.delta", object{
		"item_id": id, "output_index": len(w.output) - 1, "summary_index": 0, "delta": s,
	})
	w.output[len(w.output)-1] = object{"id": id, "type": "reasoning", "encrypted_content": "sealed:" + s,
		"summary": []object{{"type": "summary_text", "text": s}}}
	return out + w.done()
}

func (w *responsesWire) call(i int, c llm.Call) string {
	id := "fc_" + strconv.Itoa(i)
	item := func(args, status string) object {
		return object{"id": id, "type": "function_call", "status": status,
			"call_id": c.ID, "name": c.Name, "arguments": args}
	}
	out := w.close() + w.item(item("", "in_progress"))
	for _, half := range halves(string(c.Args)) {
		out += w.event("response.function_call_arguments.delta", object{
			"item_id": id, "output_index": len(w.output) - 1, "delta": half,
		})
	}
	w.output[len(w.output)-1] = item(string(c.Args), "completed")
	return out + w.done()
}

func (w *responsesWire) finish(r Reply) string {
	end := w.close()
	response := w.response(r)
	return end + w.event("response."+response["status"].(string), object{"response": response})
}

func (w *responsesWire) response(r Reply) object {
	status := "completed"
	var details any
	switch r.Stop {
	case llm.MaxTokens:
		status, details = "incomplete", object{"reason": "max_output_tokens"}
	case llm.Filtered:
		status, details = "incomplete", object{"reason": "content_filter"}
	}
	return object{
		"id": "resp_1", "object": "response", "status": status, "incomplete_details": details, "model": w.model,
		"output": w.output, "error": nil, "usage": object{
			"input_tokens": r.Usage.Input, "output_tokens": r.Usage.Output, "total_tokens": r.Usage.Total(),
			"input_tokens_details":  object{"cached_tokens": r.Usage.Cached},
			"output_tokens_details": object{"reasoning_tokens": r.Usage.Reasoning},
		},
	}
}

func (w *responsesWire) whole(r Reply) string {
	if r.Reasoning != "" {
		w.think(r.Reasoning)
	}
	if r.Text != "" {
		w.text(r.Text)
	}
	for i, c := range r.Calls {
		w.call(i, c)
	}
	w.close()
	return w.response(r).String()
}
