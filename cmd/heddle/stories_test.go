package main

// ownStories returns the scripts of which the story is one network's, with that network.
func ownStories() map[string]string {
	return map[string]string{
		"home.txt":    "slack", // Discord has no home
		"http.txt":    "slack", // Discord sends nothing over HTTP
		"upload.txt":  "slack", // Slack takes a file in three calls
		"outside.txt": "slack", // Discord has no people of other organisations
		"slash.txt":   "slack", // Slack does not tell the thread of a command

		"discord-forum.txt":  "discord", // Slack has no forums
		"discord-menu.txt":   "discord", // Slack's menu has no entry of heddle's
		"discord-places.txt": "discord", // Slack's threads are not locked, archived or deleted apart
		"discord-roles.txt":  "discord", // Slack has no roles
		"discord-slash.txt":  "discord", // Slack does not tell the thread of a command
		"discord-words.txt":  "discord", // Slack tells the words or nothing
	}
}
