// Package fidelity proves slacktest from outside: Slack's own clients for Node go through everything
// of Slack that the app uses, against a workspace of slacktest, and are content with it.
//
// Each file *.test.mjs is one program with a workspace of its own. What people do there it asks of the
// test in Go, which runs it, by the verbs in verbs_test.go. "make fidelity" installs what is needed and
// runs all; the test needs the build tag of that name, since it needs Node 20 and the packages of
// package-lock.json.
package fidelity
