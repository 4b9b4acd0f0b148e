// Package fidelity proves discordtest from outside: discord.js, the most used client of Discord's, goes
// through everything of Discord that the bot uses, against a Discord of discordtest, and is content with it.
//
// Each file *.test.mjs is one program with a Discord of its own. What people do there it asks of the test in
// Go, which runs it, by the verbs in verbs_test.go. "make fidelity" installs what is needed and runs all;
// the test needs the build tag of that name, since it needs Node 20 and the packages of package-lock.json.
package fidelity
