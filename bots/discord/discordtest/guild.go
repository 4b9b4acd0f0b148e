package discordtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

type user struct {
	id, name string
	bot      bool
	shy      bool // takes no direct messages
}

type guild struct {
	id, name string
	roles    []*role
	members  map[string][]string // the roles of people that have some
	gone     map[string]bool     // people that are not in it
}

type role struct {
	id, name string
	may      Permissions
	managed  bool
}

// Kinds of channels.
const (
	guildText    = 0
	directText   = 1
	publicThread = 11
	guildForum   = 15
)

type channel struct {
	id, guild, name string
	kind            int
	user            string // the other one in a direct conversation
	overwrites      []overwrite
	messages        []*Message
	last            string // message, also if it was deleted
	typing          time.Time
	thread
}

// A thread is what a channel has if it is one.
type thread struct {
	parent   string
	owner    string
	archived bool
	locked   bool
	minutes  int // until it is archived
	since    time.Time
	renames  []time.Time
}

// An overwrite is what a channel changes of permissions, for a role or for a person.
type overwrite struct {
	id          string
	person      bool
	allow, deny Permissions
}

// Permissions are what somebody may do, as Discord's bits.
type Permissions uint64

// The permissions that are looked at here.
const (
	Administrator         Permissions = 1 << 3
	ManageChannels        Permissions = 1 << 4
	AddReactions          Permissions = 1 << 6
	ViewChannel           Permissions = 1 << 10
	SendMessages          Permissions = 1 << 11
	ManageMessages        Permissions = 1 << 13
	EmbedLinks            Permissions = 1 << 14
	AttachFiles           Permissions = 1 << 15
	ReadMessageHistory    Permissions = 1 << 16
	MentionEveryone       Permissions = 1 << 17
	UseCommands           Permissions = 1 << 31
	ManageThreads         Permissions = 1 << 34
	CreatePublicThreads   Permissions = 1 << 35
	SendMessagesInThreads Permissions = 1 << 38

	ordinary = AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory | UseCommands |
		CreatePublicThreads | SendMessagesInThreads
	anything Permissions = 1<<53 - 1
)

func (p Permissions) String() string { return strconv.FormatUint(uint64(p), 10) }

// addGuild adds a guild in which everybody may do what is ordinary. The bot has a role of its own.
func (s *state) addGuild(id, name, own string) *guild {
	g := &guild{id: id, name: name, members: map[string][]string{}, gone: map[string]bool{}}
	bot := &role{id: own, name: BotName, may: ordinary, managed: true}
	g.roles = []*role{{id: id, name: "@everyone", may: ordinary}, bot}
	g.members[BotUser] = []string{bot.id}
	s.guilds[id] = g
	return g
}

// AddRole adds a role to a guild and returns the id.
func (n *Network) AddRole(guild, name string, may Permissions) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := &role{id: n.next(), name: name, may: may}
	n.guild(guild).roles = append(n.guild(guild).roles, r)
	n.Gateway.event("GUILD_ROLE_CREATE", place{guild: guild}, object{"guild_id": guild, "role": r.json(n.guild(guild))})
	return r.id
}

// SetRoles gives somebody these roles in a guild, instead of those before.
func (n *Network) SetRoles(guild, user string, roles ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.guild(guild).members[user] = roles
}

// Allow changes what the bot may do: in one channel, beside what its roles allow, or, if the id is that
// of a guild, by its role there and by @everyone. Nothing else stays allowed.
func (n *Network) Allow(in string, may Permissions) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if g := n.guilds[in]; g != nil {
		g.roles[0].may, g.roles[1].may = may, may
		return
	}
	c := n.channel(in)
	c.overwrites = slices.DeleteFunc(c.overwrites, func(o overwrite) bool { return o.id == BotUser })
	c.overwrites = append(c.overwrites, overwrite{id: BotUser, person: true, allow: may, deny: anything &^ may})
	n.Gateway.event("CHANNEL_UPDATE", c.place(), n.channelJSON(c))
}

// may returns what somebody may do in a channel.
func (s *state) may(user string, c *channel) Permissions {
	if c.guild == "" {
		if user == BotUser || user == c.user {
			return anything
		}
		return 0
	}
	if p := s.channels[c.parent]; p != nil {
		c = p
	}
	g := s.guilds[c.guild]
	if user == Owner {
		return anything
	}
	p := g.roles[0].may
	mine := g.members[user]
	for _, r := range g.roles {
		if slices.Contains(mine, r.id) {
			p |= r.may
		}
	}
	if p&Administrator != 0 {
		return anything
	}
	for _, applies := range []func(overwrite) bool{
		func(o overwrite) bool { return o.id == g.id },
		func(o overwrite) bool { return !o.person && slices.Contains(mine, o.id) },
		func(o overwrite) bool { return o.person && o.id == user },
	} {
		var allow, deny Permissions
		for _, o := range c.overwrites {
			if applies(o) {
				allow, deny = allow|o.allow, deny|o.deny
			}
		}
		p = p&^deny | allow
	}
	if p&ViewChannel == 0 {
		return 0
	}
	return p
}

// channel returns a channel that the test has added; anything else is a mistake of the test.
func (s *state) channel(id string) *channel {
	c := s.channels[id]
	if c == nil {
		panic(fmt.Sprintf("discordtest: there is no channel %q", id))
	}
	return c
}

func (s *state) guild(id string) *guild {
	g := s.guilds[id]
	if g == nil {
		panic(fmt.Sprintf("discordtest: there is no guild %q", id))
	}
	return g
}

// direct returns the direct channel of a person, and makes it if need be.
func (s *state) direct(user string) *channel {
	for _, c := range s.channels {
		if c.user == user {
			return c
		}
	}
	c := &channel{id: s.next(), kind: directText, user: user}
	s.channels[c.id] = c
	return c
}

func (c *channel) place() place { return place{guild: c.guild, channel: c} }

func (c *channel) isThread() bool { return c.kind == publicThread }

// find returns a message, or nil.
func (c *channel) find(id string) *Message {
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

func (u *user) json() object {
	v := object{"id": u.id, "username": u.name, "discriminator": "0", "global_name": u.name, "avatar": nil, "public_flags": 0, "flags": 0}
	if u.bot {
		v["bot"], v["global_name"], v["discriminator"] = true, nil, "0001"
	}
	return v
}

func (r *role) json(g *guild) object {
	v := object{"id": r.id, "name": r.name, "permissions": r.may.String(), "color": 0, "hoist": false, "managed": r.managed, "mentionable": false,
		"position": slices.Index(g.roles, r), "flags": 0, "icon": nil, "unicode_emoji": nil,
		"colors": object{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil}}
	if r.managed {
		v["tags"] = object{"bot_id": BotUser}
	}
	return v
}

// memberJSON is what a guild says about a person, but for the user.
func (g *guild) memberJSON(user string) object {
	roles := []string{}
	return object{"roles": append(roles, g.members[user]...), "nick": nil, "avatar": nil, "joined_at": born(g.id), "premium_since": nil,
		"deaf": false, "mute": false, "pending": false, "flags": 0, "communication_disabled_until": nil}
}

func (f looks) memberWithUser(g *guild, user string) object {
	v := g.memberJSON(user)
	v["user"] = f.n.users[user].json()
	return v
}

func (f looks) channelJSON(c *channel) object {
	v := object{"id": c.id, "type": c.kind, "last_message_id": nil, "flags": 0}
	if c.last != "" {
		v["last_message_id"] = c.last
	}
	if c.kind == directText {
		v["recipients"] = []object{f.n.users[c.user].json()}
		return v
	}
	v["guild_id"], v["name"], v["parent_id"], v["rate_limit_per_user"] = c.guild, c.name, nil, 0
	if c.isThread() {
		v["parent_id"], v["owner_id"] = c.parent, c.owner
		v["message_count"], v["total_message_sent"], v["member_count"] = len(c.messages), len(c.messages), 1
		v["thread_metadata"] = object{"archived": c.archived, "locked": c.locked, "auto_archive_duration": c.minutes,
			"archive_timestamp": stamp(c.since), "create_timestamp": born(c.id)}
		return v
	}
	over := []object{}
	for _, o := range c.overwrites {
		kind := 0
		if o.person {
			kind = 1
		}
		over = append(over, object{"id": o.id, "type": kind, "allow": o.allow.String(), "deny": o.deny.String()})
	}
	v["permission_overwrites"], v["position"], v["nsfw"], v["topic"] = over, 0, false, nil
	if c.kind == guildForum {
		v["available_tags"], v["default_reaction_emoji"], v["default_sort_order"], v["default_forum_layout"] = []any{}, nil, nil, 0
	}
	return v
}

func (f looks) guildJSON(g *guild) object {
	roles := []object{}
	for _, r := range g.roles {
		roles = append(roles, r.json(g))
	}
	return object{"id": g.id, "name": g.name, "owner_id": Owner, "roles": roles, "emojis": []any{}, "stickers": []any{}, "features": []any{},
		"icon": nil, "splash": nil, "discovery_splash": nil, "description": nil, "banner": nil, "vanity_url_code": nil, "application_id": nil,
		"afk_channel_id": nil, "system_channel_id": nil, "rules_channel_id": nil, "public_updates_channel_id": nil, "safety_alerts_channel_id": nil,
		"afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
		"system_channel_flags": 0, "premium_tier": 0, "premium_subscription_count": 0, "nsfw_level": 0, "premium_progress_bar_enabled": false,
		"preferred_locale": "en-US", "region": "deprecated", "max_members": 500000, "max_presences": nil, "incidents_data": nil}
}

// guildCreate is what the Gateway says about a guild: with channels and threads.
func (f looks) guildCreate(g *guild) object {
	v := f.n.guildJSON(g)
	channels, threads := []object{}, []object{}
	for _, id := range slices.Sorted(maps.Keys(f.n.channels)) {
		c := f.n.channels[id]
		switch {
		case c.guild != g.id, f.n.may(BotUser, c)&ViewChannel == 0:
		case !c.isThread():
			channels = append(channels, f.n.channelJSON(c))
		case !c.archived:
			threads = append(threads, f.n.channelJSON(c))
		}
	}
	v["channels"], v["threads"], v["members"] = channels, threads, []object{f.n.memberWithUser(g, BotUser)}
	v["joined_at"], v["large"], v["unavailable"], v["member_count"] = born(g.id), false, false, len(f.n.users)
	for _, name := range []string{"voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds"} {
		v[name] = []any{}
	}
	return v
}

// typed returns what Discord's client makes of what somebody types: names become mentions.
func (s *state) typed(channel, text string) string {
	var pairs [][2]string
	for id, u := range s.users {
		pairs = append(pairs, [2]string{"@" + u.name, "<@" + id + ">"})
	}
	if g := s.guilds[s.channel(channel).guild]; g != nil {
		for _, r := range g.roles[2:] {
			pairs = append(pairs, [2]string{"@" + r.name, "<@&" + r.id + ">"})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return len(b[0]) - len(a[0]) }) // @anna before @ann
	for _, p := range pairs {
		text = strings.ReplaceAll(text, p[0], p[1])
	}
	return text
}
