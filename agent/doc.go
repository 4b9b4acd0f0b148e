// Package agent is what the agent is: how a session follows from its log, what it does next, and the
// worker that does it.
//
// A Session is the fold of its events (Session.Apply) and says what to do (Session.Next). Both are
// pure: no clock, no disk, no goroutine. A worker does that one thing, appends what happened as the
// next event, and looks again; when the next thing is to wait, it ends. Everything that people do
// (Say, Decide, Answer, Stop) is an append too, and may come at any moment.
//
// To change how the agent behaves, change Next and its table in the tests. To change what the model
// is told, change package prompts, or request.go, brought.go and prompt.go, which only arrange those
// words. The JSON of the events in event.go and event_files.go is for ever. Nothing here knows a
// network, a vendor of models or an engine of the log.
package agent
