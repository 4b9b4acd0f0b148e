package discordtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A command is one that the application has registered.
type command struct {
	id, version string
	guild       string
	body        object
}

// Kinds of options.
const (
	optCommand = 1
	optGroup   = 2
	optString  = 3
	optNumber  = 4
	optBool    = 5
	optUser    = 6
	optChannel = 7
	optRole    = 8
	optDecimal = 10
	optFile    = 11
)

// Kinds of commands.
const (
	slashCommand   = 1
	userCommand    = 2
	messageCommand = 3
)

// Discord's limits on commands.
const (
	maxSlash     = 100
	maxMenu      = 15
	maxCommand   = 8000 // characters of names, descriptions and values
	maxWordsName = 32
)

// commandName is what names of slash commands and options look like.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

func commandList() rule {
	top := fields{"type": whole(1, 3), "name!": words(1, maxWordsName), "description": words(0, 100), "options": list(0, 25, option(3)),
		"default_member_permissions": anyValue, "dm_permission": yesNo, "nsfw": yesNo, "contexts": list(0, 3, whole(0, 2)),
		"integration_types": list(0, 2, whole(0, 1)), "name_localizations": anyValue, "description_localizations": anyValue,
		"id": id, "default_permission": yesNo}
	return list(0, maxSlash+2*maxMenu, form(top))
}

// option is the rule for options, of which depth may be in one another.
func option(depth int) rule {
	return func(c *checker, at string, v any) {
		f := fields{"type!": whole(1, 11), "name!": words(1, maxWordsName), "description!": words(1, 100), "required": yesNo, "autocomplete": yesNo,
			"choices":   list(0, 25, form(fields{"name!": words(1, 100), "value!": anyValue, "name_localizations": anyValue})),
			"min_value": anyValue, "max_value": anyValue, "min_length": whole(0, 6000), "max_length": whole(1, 6000),
			"channel_types": anyValue, "name_localizations": anyValue, "description_localizations": anyValue}
		if depth > 1 {
			f["options"] = list(0, 25, option(depth-1))
		}
		form(f)(c, at, v)
		o, _ := v.(object)
		kind := count(o, "type")
		nested := kind == optCommand || kind == optGroup
		if !commandName.MatchString(str(o, "name")) || str(o, "name") != strings.ToLower(str(o, "name")) {
			c.fail(at+"/name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		}
		if inner, _ := o["options"].([]any); len(inner) > 0 && !nested {
			c.fail(at+"/options", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Only sub commands and groups have options")
		}
		if choices, _ := o["choices"].([]any); len(choices) > 0 && whether(o, "autocomplete") {
			c.fail(at+"/autocomplete", "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE_MUTUALLY_EXCLUSIVE", "Choices and autocomplete cannot be both set")
		}
	}
}

// checkCommands finds what rules of fields do not tell.
func checkCommands(list []any) *refused {
	var c checker
	seen := map[string]bool{}
	number := map[int]int{}
	for i, one := range list {
		o := one.(object)
		at := "/" + strconv.Itoa(i)
		kind, name := either(count(o, "type"), slashCommand), str(o, "name")
		number[kind]++
		if key := strconv.Itoa(kind) + name; seen[key] {
			c.fail(at+"/name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		} else {
			seen[key] = true
		}
		switch {
		case kind == slashCommand && (!commandName.MatchString(name) || name != strings.ToLower(name)):
			c.fail(at+"/name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		case kind == slashCommand && str(o, "description") == "":
			c.fail(at+"/description", "BASE_TYPE_REQUIRED", "This field is required")
		case kind != slashCommand && (str(o, "description") != "" || len(asList(o["options"])) > 0):
			c.fail(at+"/description", "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION", "Context menu commands have no description and no options")
		}
		checkOptions(&c, at+"/options", asList(o["options"]))
		if size(o) > maxCommand {
			c.fail(at, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (%d)", maxCommand)
		}
	}
	if number[slashCommand] > maxSlash || number[userCommand] > maxMenu || number[messageCommand] > maxMenu {
		no := refuse(30032)
		no.status, no.message = 400, "Maximum number of application commands reached (100)."
		return no
	}
	return c.refused()
}

func asList(v any) []any {
	l, _ := v.([]any)
	return l
}

// checkOptions checks the order and the names of options.
func checkOptions(c *checker, at string, all []any) {
	seen := map[string]bool{}
	optional := false
	for i, one := range all {
		o := one.(object)
		here := at + "/" + strconv.Itoa(i)
		if seen[str(o, "name")] {
			c.fail(here+"/name", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
		}
		seen[str(o, "name")] = true
		if whether(o, "required") && optional {
			c.fail(here+"/required", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || !whether(o, "required")
		checkOptions(c, here+"/options", asList(o["options"]))
	}
}

// size counts what Discord counts of a command.
func size(o object) int {
	sum := len([]rune(str(o, "name"))) + len([]rune(str(o, "description")))
	for _, list := range []string{"options", "choices"} {
		for _, one := range asList(o[list]) {
			sum += size(one.(object)) + len([]rune(str(one, "value")))
		}
	}
	return sum
}

func (k *command) json() object {
	v := object{"id": k.id, "application_id": AppID, "version": k.version, "type": slashCommand, "description": "", "options": []any{},
		"default_member_permissions": nil, "dm_permission": true, "nsfw": false, "integration_types": []int{0}, "contexts": nil,
		"name_localizations": nil, "description_localizations": nil}
	maps.Copy(v, k.body)
	if k.guild != "" {
		v["guild_id"] = k.guild
	}
	return v
}

// owned refuses calls for another application, or for a guild where it is not.
func owned(n *Network, q *request) *refused {
	switch {
	case q.path("app") != AppID:
		return refuse(20012)
	case q.path("guild") != "" && n.guilds[q.path("guild")] == nil:
		return refuse(50001)
	}
	return nil
}

func getCommands(n *Network, q *request) (any, *refused) {
	if no := owned(n, q); no != nil {
		return nil, no
	}
	all := []object{}
	for _, k := range n.commands[q.path("guild")] {
		all = append(all, k.json())
	}
	return all, nil
}

// setCommands registers a list of commands instead of those before. Those of the same kind and name keep
// their ids.
func setCommands(n *Network, q *request) (any, *refused) {
	if no := owned(n, q); no != nil {
		return nil, no
	}
	list := asList(q.body[""])
	if no := checkCommands(list); no != nil {
		return nil, no
	}
	guild := q.path("guild")
	var now []*command
	for _, one := range list {
		body := maps.Clone(one.(object))
		delete(body, "id")
		k := &command{id: n.next(), version: n.next(), guild: guild, body: body}
		if old := n.command(guild, either(count(body, "type"), slashCommand), str(body, "name")); old != nil {
			k.id = old.id
		}
		now = append(now, k)
	}
	n.commands[guild] = now
	return getCommands(n, q)
}

// command returns a command that is registered in a guild, or everywhere if that is "", or nil.
func (s *state) command(guild string, kind int, name string) *command {
	at := slices.IndexFunc(s.commands[guild], func(k *command) bool {
		return either(count(k.body, "type"), slashCommand) == kind && str(k.body, "name") == name
	})
	if at < 0 {
		return nil
	}
	return s.commands[guild][at]
}

// An Option is a value that a person gives to a command.
type Option struct {
	Name  string
	Value any // a string, an int, a bool, an id, or a File
}

// Command runs a slash command, "/ask" or "/heddle model", with options. It returns when the application
// has answered.
func (p Interactions) Command(user, channel, line string, options ...Option) error {
	_, err := p.slash(onCommand, user, channel, line, options)
	return err
}

// Complete returns what the application offers for the last of the options, as far as it is typed.
func (p Interactions) Complete(user, channel, line string, options ...Option) ([]Choice, error) {
	i, err := p.slash(onComplete, user, channel, line, options)
	if err != nil {
		return nil, err
	}
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	return i.choices, nil
}

func (p Interactions) slash(kind int, user, channel, line string, options []Option) (*interaction, error) {
	p.n.mu.Lock()
	c := p.n.channel(channel)
	words := strings.Fields(strings.TrimPrefix(line, "/"))
	k := p.n.known(c, slashCommand, words[0])
	if k == nil {
		p.n.mu.Unlock()
		return nil, fmt.Errorf("there is no command %q", line)
	}
	t := filling{n: p.n, channel: c, complete: kind == onComplete, resolved: object{}}
	given, err := t.options(k.body, words[1:], options)
	p.n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	data := object{"id": k.id, "name": words[0], "type": slashCommand, "options": given}
	if k.guild != "" {
		data["guild_id"] = k.guild
	}
	if len(t.resolved) > 0 {
		data["resolved"] = t.resolved
	}
	i := &interaction{kind: kind, user: user, channel: c}
	return i, p.n.interact(i, data)
}

// known returns the command that people find in a channel: of the guild, or of everywhere.
func (s *state) known(c *channel, kind int, name string) *command {
	if k := s.command(c.guild, kind, name); k != nil {
		return k
	}
	return s.command("", kind, name)
}

// Menu runs a command of a message's context menu.
func (p Interactions) Menu(user, channel, message, name string) error {
	p.n.mu.Lock()
	c := p.n.channel(channel)
	k, m := p.n.known(c, messageCommand, name), c.find(message)
	if k == nil || m == nil {
		p.n.mu.Unlock()
		return fmt.Errorf("there is no command %q for that message", name)
	}
	data := object{"id": k.id, "name": name, "type": messageCommand, "target_id": message,
		"resolved": object{"messages": object{message: p.n.messageJSON(m)}}}
	p.n.mu.Unlock()
	return p.n.interact(&interaction{kind: onCommand, user: user, channel: c}, data)
}
