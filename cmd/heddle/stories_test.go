package main

// ownStories returns the scripts of which the story is one network's, with that network.
func ownStories() map[string]string {
	return map[string]string{
		"channels.txt": "slack", // of addresses as Slack has them
		"delivery.txt": "slack", // Slack sends again what is not acknowledged
		"earlier.txt":  "slack", // a call of Slack's is refused
		"expiry.txt":   "slack", // a call of Slack's is held
		"home.txt":     "slack", // Discord has no home
		"http.txt":     "slack", // Discord sends nothing over HTTP
		"inbox.txt":    "slack", // Slack hands out a page in place of a file
		"outbox.txt":   "slack", // Slack takes a file in three calls
		"outside.txt":  "slack", // Discord has no people of other organisations
		"slash.txt":    "slack", // Slack does not tell the thread of a command
		"answers.txt":  "slack", // acknowledgements get lost, of which Discord has none
		"revise.txt":   "slack", // links are unfurled by an edit

		"discord-form.txt":   "discord", // Slack's forms are part of the thread's message, and told with it
		"discord-forum.txt":  "discord", // Slack has no forums
		"discord-menu.txt":   "discord", // Slack's menu has no entry of heddle's
		"discord-places.txt": "discord", // Slack's threads are not locked, archived or deleted apart
		"discord-roles.txt":  "discord", // Slack has no roles
		"discord-slash.txt":  "discord", // Slack does not tell the thread of a command
		"discord-words.txt":  "discord", // Slack tells the words or nothing
	}
}
