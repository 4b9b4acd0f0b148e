package slacktest

import (
	"slices"
	"strings"
)

// A method is one of the Web API.
type method struct {
	args  string // that it takes here; without those with "!" it is refused
	scope string // that the token must have. A "*" stands for the kind of the channel
	tier  int    // of Slack's rate limits; 0 is a limit of its own
	app   bool   // it takes the app token, in the header only
	do    func(*Workspace, call) (map[string]any, *refused)
}

// methods has what bots/slack may call. Arguments that Slack knows and this package does not act on
// are left out: whoever starts to use one has to give it its meaning here. Those that follow "ignored"
// are harmless; the library sends them along.
func methods() map[string]method {
	const ignored = " parse unfurl_links unfurl_media"
	return map[string]method{
		"apps.connections.open": {app: true, tier: 3, do: connectionsOpen}, // 1 by older documentation

		"auth.test":                             {do: authTest},
		"assistant.threads.setStatus":           {args: "channel_id! thread_ts! status loading_messages", scope: "chat:write", do: setStatus},
		"assistant.threads.setSuggestedPrompts": {args: "channel_id! thread_ts title prompts!", scope: "assistant:write", tier: 4, do: setPrompts},
		"assistant.threads.setTitle":            {args: "channel_id! thread_ts! title!", scope: "assistant:write", tier: 4, do: setTitle},

		"chat.appendStream": {args: "channel! ts! markdown_text chunks", scope: "chat:write", tier: 4, do: appendStream},
		"chat.delete":       {args: "channel! ts!", scope: "chat:write", tier: 3, do: deleteMessage},
		"chat.postEphemeral": {args: "channel! user! text blocks markdown_text thread_ts" + ignored,
			scope: "chat:write", tier: 4, do: postEphemeral},
		"chat.postMessage": {args: "channel! text blocks markdown_text metadata mrkdwn thread_ts" + ignored,
			scope: "chat:write", do: postMessage},
		"chat.startStream": {args: "channel! thread_ts! markdown_text chunks recipient_team_id recipient_user_id task_display_mode" + ignored,
			scope: "chat:write", tier: 2, do: startStream},
		"chat.stopStream": {args: "channel! ts! markdown_text chunks blocks metadata",
			scope: "chat:write", tier: 2, do: stopStream},
		"chat.update": {args: "channel! ts! text blocks markdown_text metadata" + ignored,
			scope: "chat:write", tier: 3, do: updateMessage},

		"conversations.history": {args: "channel! cursor include_all_metadata inclusive latest limit oldest", scope: "*:history", tier: 3, do: history},
		"conversations.info":    {args: "channel! include_locale include_num_members", scope: "*:read", tier: 3, do: channelInfo},
		"conversations.replies": {args: "channel! ts cursor include_all_metadata inclusive latest limit oldest", scope: "*:history", tier: 3, do: replies},

		"files.completeUploadExternal": {args: "files! channel_id thread_ts initial_comment", scope: "files:write", tier: 4, do: completeUpload},
		"files.getUploadURLExternal":   {args: "filename! length! alt_txt snippet_type", scope: "files:write", tier: 4, do: uploadURL},
		"files.info":                   {args: "file! count cursor limit page", scope: "files:read", tier: 4, do: fileInfo},

		"reactions.add": {args: "channel! name! timestamp!", scope: "reactions:write", tier: 3, do: addReaction},
		"users.info":    {args: "user! include_locale", scope: "users:read", tier: 4, do: userInfo},
		"users.list":    {args: "cursor include_locale limit", scope: "users:read", tier: 2, do: userList},
		"views.open":    {args: "trigger_id! view!", tier: 4, do: openView},
		"views.publish": {args: "user_id! view! hash", tier: 4, do: publishView},
		"views.update":  {args: "view_id external_id view! hash", tier: 4, do: updateView},
	}
}

// everything is the scopes of a token that may call all methods.
const everything = "app_mentions:read,assistant:write,channels:history,channels:read,chat:write,commands,files:read,files:write," +
	"groups:history,groups:read,im:history,im:read,mpim:history,mpim:read,reactions:write,users:read"

// check refuses arguments that m does not take, and calls without what it needs.
func (m method) check(c call) *refused {
	var problems []string
	known := append(strings.Fields(m.args), "team_id") // of organisations: any method may be told it
	for _, name := range known {
		if name, needed := strings.CutSuffix(name, "!"); needed && c.args.Get(name) == "" {
			problems = append(problems, "missing required field: "+name)
		}
	}
	for name := range c.args {
		if !slices.Contains(known, name) && !slices.Contains(known, name+"!") {
			problems = append(problems, "invalid additional property: "+name)
		}
	}
	if problems == nil {
		return nil
	}
	slices.Sort(problems)
	return refuse("invalid_arguments", problems...)
}

// permit refuses a token that may not call m.
func permit(w *Workspace, m method, c call) *refused {
	scopes := w.cfg.Scopes
	want, token, other := BotToken, c.token, AppToken
	if m.app {
		want, other = AppToken, BotToken
	}
	switch {
	case token == "", c.form && m.app:
		return refuse("not_authed")
	case token == other:
		return refuse("not_allowed_token_type")
	case token != want:
		return refuse("invalid_auth")
	}
	scope := m.scope
	if kind, ok := strings.CutPrefix(scope, "*"); ok {
		scope = scopeKind(w, c.args.Get("channel")) + kind
	}
	if scope != "" && !slices.Contains(strings.Split(scopes, ","), scope) {
		return &refused{code: "missing_scope", needed: scope, provided: scopes}
	}
	return nil
}

// scopeKind is what a channel is called in the names of scopes.
func scopeKind(w *Workspace, channel string) string {
	if ch := w.channels[channel]; ch != nil && ch.kind == "im" {
		return "im"
	}
	return "channels"
}
