package discordtest

import "time"

// A route is one of REST.
type route struct {
	query string // the arguments that it takes in the address
	body  func() fields
	list  rule // instead of body, if a list comes
	open  bool // it needs no bot token
	hook  bool // it goes by the token of an interaction
	free  bool // it has no limit
	do    func(*Network, *request) (any, *refused)
}

// routes has what bots/discord may call. What Discord knows and this package does not act on is left
// out: whoever starts to use a route has to give it its rules here.
func routes() map[string]route {
	return map[string]route{
		"GET /gateway":     {open: true, do: gatewayURL},
		"GET /gateway/bot": {do: gatewayBot},

		"GET /users/@me":               {do: func(n *Network, _ *request) (any, *refused) { return n.me(), nil }},
		"GET /users/@me/guilds":        {query: "before after limit with_counts", do: myGuilds},
		"POST /users/@me/channels":     {body: func() fields { return fields{"recipient_id!": id} }, do: openDirect},
		"GET /users/{user}":            {do: getUser},
		"GET /applications/@me":        {do: func(n *Network, _ *request) (any, *refused) { return n.application(), nil }},
		"GET /oauth2/applications/@me": {do: func(n *Network, _ *request) (any, *refused) { return n.application(), nil }},

		"GET /guilds/{guild}":                             {query: "with_counts", do: getGuild},
		"GET /guilds/{guild}/channels":                    {do: getChannels},
		"GET /guilds/{guild}/roles":                       {do: getRoles},
		"GET /guilds/{guild}/members/{user}":              {do: getMember},
		"GET /guilds/{guild}/threads/active":              {do: activeThreads},
		"GET /applications/{app}/commands":                {query: "with_localizations", do: getCommands},
		"PUT /applications/{app}/commands":                {list: commandList(), do: setCommands},
		"GET /applications/{app}/guilds/{guild}/commands": {query: "with_localizations", do: getCommands},
		"PUT /applications/{app}/guilds/{guild}/commands": {list: commandList(), do: setCommands},

		"GET /channels/{channel}":                                          {do: getChannel},
		"PATCH /channels/{channel}":                                        {body: threadEdit, do: editThread},
		"POST /channels/{channel}/typing":                                  {do: typing},
		"GET /channels/{channel}/messages":                                 {query: "before after around limit", do: getMessages},
		"POST /channels/{channel}/messages":                                {body: newMessage, do: postMessage},
		"GET /channels/{channel}/messages/{message}":                       {do: getMessage},
		"PATCH /channels/{channel}/messages/{message}":                     {body: messageEdit, do: editMessage},
		"DELETE /channels/{channel}/messages/{message}":                    {do: deleteMessage},
		"PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me": {do: addReaction},
		"POST /channels/{channel}/messages/{message}/threads":              {body: newThread, do: startThread},
		"PUT /channels/{channel}/thread-members/@me":                       {do: joinThread},

		"POST /interactions/{interaction}/{token}/callback": {query: "with_response", body: callback, open: true, hook: true, free: true, do: respond},
		"POST /webhooks/{app}/{token}":                      {query: "wait", body: newFollowUp, open: true, hook: true, do: followUp},
		"GET /webhooks/{app}/{token}/messages/{message}":    {open: true, hook: true, do: getFollowUp},
		"PATCH /webhooks/{app}/{token}/messages/{message}":  {body: messageEdit, open: true, hook: true, do: editFollowUp},
		"DELETE /webhooks/{app}/{token}/messages/{message}": {open: true, hook: true, do: deleteFollowUp},
	}
}

func gatewayURL(n *Network, _ *request) (any, *refused) {
	return object{"url": "ws" + n.base[len("http"):] + "/gateway"}, nil
}

func gatewayBot(n *Network, q *request) (any, *refused) {
	v, _ := gatewayURL(n, q)
	now := time.Now()
	left := n.Gateway.left(now)
	reset := time.Duration(0)
	if starts := n.Gateway.starts; len(starts) > 0 {
		reset = starts[0].Add(24 * time.Hour).Sub(now)
	}
	o := v.(object)
	o["shards"] = n.cfg.Shards
	o["session_start_limit"] = object{"total": n.cfg.Identifies, "remaining": left, "reset_after": reset.Milliseconds(), "max_concurrency": 1}
	return o, nil
}

func (f looks) me() object {
	v := f.n.users[BotUser].json()
	v["verified"], v["mfa_enabled"], v["locale"], v["email"] = true, false, "en-US", nil
	return v
}

func (f looks) application() object {
	return object{"id": AppID, "name": BotName, "icon": nil, "description": "", "type": nil, "bot": f.n.users[BotUser].json(), "summary": "",
		"bot_public": false, "bot_require_code_grant": false, "verify_key": "0000", "flags": f.n.appFlags(), "owner": f.n.users[Owner].json(), "team": nil,
		"hook": true, "is_verified": false, "redirect_uris": []any{}, "interactions_endpoint_url": nil, "role_connections_verification_url": nil,
		"approximate_guild_count": len(f.n.guilds)}
}

func myGuilds(n *Network, _ *request) (any, *refused) {
	guilds := []object{}
	for _, g := range sorted(n.guilds) {
		guilds = append(guilds, object{"id": g.id, "name": g.name, "icon": nil, "banner": nil, "owner": false, "features": []any{},
			"permissions": (g.roles[0].may | g.roles[1].may).String()})
	}
	return guilds, nil
}

func openDirect(n *Network, q *request) (any, *refused) {
	u := n.users[str(q.body, "recipient_id")]
	if u == nil || u.id == BotUser {
		return nil, refuse(50033)
	}
	return n.channelJSON(n.direct(u.id)), nil
}

func getUser(n *Network, q *request) (any, *refused) {
	if u := n.users[q.path("user")]; u != nil {
		return u.json(), nil
	}
	return nil, refuse(10013)
}

// guildOf returns the guild that a call names, or why it does not.
func guildOf(n *Network, q *request) (*guild, *refused) {
	g := n.guilds[q.path("guild")]
	if g == nil {
		return nil, refuse(10004)
	}
	return g, nil
}

func getGuild(n *Network, q *request) (any, *refused) {
	g, no := guildOf(n, q)
	if no != nil {
		return nil, no
	}
	return n.guildJSON(g), nil
}

func getChannels(n *Network, q *request) (any, *refused) {
	g, no := guildOf(n, q)
	if no != nil {
		return nil, no
	}
	channels := []object{}
	for _, c := range sorted(n.channels) {
		if c.guild == g.id && !c.isThread() {
			channels = append(channels, n.channelJSON(c))
		}
	}
	return channels, nil
}

func getRoles(n *Network, q *request) (any, *refused) {
	g, no := guildOf(n, q)
	if no != nil {
		return nil, no
	}
	roles := []object{}
	for _, r := range g.roles {
		roles = append(roles, r.json(g))
	}
	return roles, nil
}

func getMember(n *Network, q *request) (any, *refused) {
	g, no := guildOf(n, q)
	switch user := q.path("user"); {
	case no != nil:
		return nil, no
	case n.users[user] == nil:
		return nil, refuse(10013)
	case g.gone[user]:
		return nil, refuse(10007)
	default:
		return n.memberWithUser(g, user), nil
	}
}

// permit returns the channel that a call names, or why the bot may not do that there.
func permit(n *Network, q *request, need Permissions) (*channel, *refused) {
	c := n.channels[q.path("channel")]
	if c == nil {
		return nil, refuse(10003)
	}
	may := n.may(BotUser, c)
	switch {
	case may&ViewChannel == 0:
		return nil, refuse(50001)
	case may&need != need:
		return nil, refuse(50013)
	}
	return c, nil
}

func getChannel(n *Network, q *request) (any, *refused) {
	c, no := permit(n, q, 0)
	if no != nil {
		return nil, no
	}
	return n.channelJSON(c), nil
}

func typing(n *Network, q *request) (any, *refused) {
	c, no := permit(n, q, writing(n, q))
	if no != nil {
		return nil, no
	}
	c.typing = time.Now().Add(typingFor)
	return nil, nil
}

// typingFor is how long people see that somebody types.
const typingFor = 10 * time.Second

// writing is what the bot needs to write into the channel that a call names.
func writing(n *Network, q *request) Permissions {
	if c := n.channels[q.path("channel")]; c != nil && c.isThread() {
		return SendMessagesInThreads
	}
	return SendMessages
}

func addReaction(n *Network, q *request) (any, *refused) {
	c, no := permit(n, q, AddReactions|ReadMessageHistory)
	switch {
	case no != nil:
		return nil, no
	case c.find(q.path("message")) == nil:
		return nil, refuse(10008)
	}
	return nil, nil
}
