/*
Heddle puts a tool-using agent into chat threads. This comment is the tour of its code: read it, then
follow one message through the files that it names.

# The idea

A chat thread is a session, and a session is nothing but its events in an append-only log
(package store). Folding the events gives a value, agent.Session; its method Next looks at that value
and says what to do. Both are pure, in agent/apply.go and agent/next.go. A worker does that one thing,
appends what happened as the next event, and looks again (agent/worker.go). When the next thing is to
wait for a person, the worker ends: an idle session, or one that waits for an answer, costs nothing
but rows. A bot paints each thread from the same log (bots/view.go, bots/painter.go).

So a crash at any moment is a pause, and there is one place to look for every question: why did it do
that? In Next. What was the model told? In the log ("heddle sessions show"). What was posted? The
receipts, in the log too.

	people --> bots --Say/Decide/Stop--> log --Apply--> Session --Next--> worker --> model, tools
	            ^                         |  ^                               |
	            +--------- view ----------+  +----------- events ------------+

# The life of a message

 1. Slack sends an event over a web socket of bots/slack, or to its Handler; Discord over the Gateway of
    bots/discord. Both decode it to bots.Said.
 2. Bot.accept drops what is not for the bot, and Agent.Say appends the message under the id that
    the network gave it. A second delivery finds the id and changes nothing.
 3. Only then is the event acknowledged. A crash before: Slack sends it again. After: the log has it.
 4. A worker folds the log. Files that came with the message, and what was said in its thread before the
    bot was asked, are fetched now and become events (agent/gather.go). Next says AskModel:
    agent/request.go makes the request from the session alone, and agent/llm/openai streams the answer.
 5. The answer asks for tools. Package tools checks the calls; those that only look run together, one
    that acts waits for a person. Before it runs, what it would do is compared with what the person saw.
 6. An answer without calls ends the turn. The bot posts it and leaves a receipt in the log.

# The packages

	cmd/heddle    this program: configuration, command line, wiring
	bots          chat as the service sees it; bots/slack, bots/discord and the page bots/web are networks
	agent         what the agent is; agent/llm the vocabulary of models, agent/llm/openai one wire
	tools         what the agent can do; each subdirectory has some tools
	store         the log; store/bolt keeps it in one file
	prompts       every word that the model is told
	internal      layers (who may import whom, and how large things may get), redact (secrets)

# The files of this program

	main.go       the command line, and the one place that says which command does what
	serve.go      the service: the parts wired from top to bottom, run together, and stopped
	defaults.go   what "heddle" alone starts with, without a configuration
	networks.go   the chat networks, and what becomes of the service when one fails
	config.go     every key of the configuration, with its meaning and its default
	load.go       the file, decoded, and messages about keys that are not known
	survey.go     what is written in the file and where, and messages about types
	check.go      messages about values that make no sense; check_channel.go those of one channel
	secrets.go    tokens and keys from the environment and from files
	settings.go   what the configuration means to the agent, the bots and the models
	desk.go       questions about the log, and their answers; story.go the words for events
	admin.go      the same questions, asked of a heddle that serves
	backup.go     a copy of the log and its artefacts, and the check of a copy
	doctor.go     the examination of everything that the service needs
	health.go     /healthz and /readyz
	testdata      conversations, in a language of their own: the readable specification
*/
package main
