package discordtest

import (
	"errors"
	"slices"
	"time"
)

// Kinds of interactions.
const (
	onCommand   = 2
	onComponent = 3
	onComplete  = 4
	onSubmit    = 5
)

// Kinds of answers to them.
const (
	answerMessage  = 4
	answerDeferred = 5
	deferUpdate    = 6
	updateMessage  = 7
	answerChoices  = 8
	answerForm     = 9
)

// An interaction is something that a person did with the application.
type interaction struct {
	id, token string
	kind      int
	user      string
	channel   *channel
	message   *Message // with the component; nil is none
	made      time.Time
	acked     int       // the kind of the answer; 0 is none so far
	original  *Message  // the answer, or the message of the component
	done      chan bool // of capacity 1: it was answered
	choices   []Choice
}

// A Choice is what autocomplete offers.
type Choice struct {
	Name  string
	Value any
}

// errFailed is what a person sees.
var errFailed = errors.New("discord shows that the application did not respond")

// interact sends an interaction and waits until it is answered. It fails as Discord shows it to the
// person. n.mu is not held.
func (a acts) interact(i *interaction, data object) error {
	a.n.mu.Lock()
	i.id, i.made, i.done = a.n.next(), time.Now(), make(chan bool, 1)
	i.token = "interaction-" + i.id
	a.n.calls[i.token] = i
	a.n.Gateway.event("INTERACTION_CREATE", place{guild: i.channel.guild}, a.n.interactionJSON(i, data))
	here := len(a.n.Gateway.sessions) > 0
	a.n.mu.Unlock()
	if !here {
		return errFailed
	}
	timer := time.NewTimer(a.n.cfg.AnswerWithin)
	defer timer.Stop()
	select {
	case <-i.done:
		return nil
	case <-a.n.API.quit:
		return errFailed
	case <-timer.C:
	}
	a.n.mu.Lock()
	defer a.n.mu.Unlock()
	if i.acked != 0 {
		return nil
	}
	return errFailed
}

func (f looks) interactionJSON(i *interaction, data object) object {
	v := object{"id": i.id, "application_id": AppID, "type": i.kind, "data": data, "token": i.token, "version": 1, "channel_id": i.channel.id,
		"channel": f.n.channelJSON(i.channel), "app_permissions": f.n.may(BotUser, i.channel).String(), "locale": "en-US", "entitlements": []any{},
		"authorizing_integration_owners": object{"0": i.channel.guild}, "context": 0, "attachment_size_limit": maxFile}
	if i.message != nil {
		v["message"] = f.n.messageJSON(i.message)
	}
	g := f.n.guilds[i.channel.guild]
	if g == nil {
		v["user"], v["context"] = f.n.users[i.user].json(), 1
		v["authorizing_integration_owners"] = object{"0": "0"}
		return v
	}
	member := f.n.memberWithUser(g, i.user)
	member["permissions"] = f.n.may(i.user, i.channel).String()
	v["member"], v["guild_id"], v["guild_locale"] = member, g.id, "en-US"
	v["guild"] = object{"id": g.id, "locale": "en-US", "features": []any{}}
	return v
}

// callback is what an answer to an interaction takes; respond looks at its data.
func callback() fields {
	return fields{"type!": oneOf(4.0, 5.0, 6.0, 7.0, 8.0, 9.0), "data": anyValue}
}

// newFollowUp is what a message by the token of an interaction takes.
func newFollowUp() fields {
	return messageEdit().with(fields{"tts": yesNo})
}

// respond takes the answer to an interaction.
func respond(n *Network, q *request) (any, *refused) {
	i := n.calls[q.path("token")]
	kind := count(q.body, "type")
	data, _ := q.body["data"].(object)
	if data == nil {
		data = object{}
	}
	switch {
	case i == nil, i.id != q.path("interaction"), i.acked == 0 && time.Since(i.made) > n.cfg.AnswerWithin:
		return nil, refuse(10062)
	case i.acked != 0:
		return nil, refuse(40060)
	}
	if no := i.fits(kind, data); no != nil {
		return nil, no
	}
	if no := n.act(q, i, kind, data); no != nil {
		return nil, no
	}
	i.acked = kind
	i.done <- true
	n.wake()
	if q.query.Get("with_response") != "true" {
		return nil, nil
	}
	v := object{"interaction": object{"id": i.id, "type": i.kind, "response_message_loading": kind == answerDeferred, "response_message_ephemeral": i.original != nil && i.original.For != ""}}
	if i.original != nil && kind != deferUpdate {
		v["interaction"].(object)["response_message_id"] = i.original.ID
		v["resource"] = object{"type": kind, "message": n.messageJSON(i.original)}
	}
	return v, nil
}

// fits refuses answers of a kind that an interaction does not take, and data that is wrong.
func (i *interaction) fits(kind int, data object) *refused {
	takes := []int{answerMessage, answerDeferred}
	switch {
	case i.kind == onComplete:
		takes = []int{answerChoices}
	case i.kind == onCommand:
		takes = append(takes, answerForm)
	case i.kind == onComponent:
		takes = append(takes, deferUpdate, updateMessage, answerForm)
	case i.message != nil:
		takes = append(takes, deferUpdate, updateMessage)
	}
	var c checker
	if !slices.Contains(takes, kind) {
		c.fail("/type", "INTERACTION_RESPONSE_TYPE_INVALID", "Invalid interaction response type for this interaction")
		return c.refused()
	}
	switch kind {
	case answerMessage:
		c.members("/data", data, newFollowUp())
	case updateMessage:
		c.members("/data", data, messageEdit())
	case answerDeferred:
		c.members("/data", data, fields{"flags": whole(0, 1<<16-1)})
	case answerChoices:
		c.members("/data", data, fields{"choices!": list(0, 25, form(fields{"name!": words(1, 100), "value!": anyValue, "name_localizations": anyValue}))})
	case answerForm:
		c.members("/data", data, modal())
	}
	return c.refused()
}

// act does what an answer says.
func (a acts) act(q *request, i *interaction, kind int, data object) *refused {
	inner := *q
	inner.body = data
	switch kind {
	case answerMessage:
		m, no := compose(q, data, nil)
		if no != nil {
			return no
		}
		if m.empty() {
			return refuse(50006)
		}
		a.n.answer(i, m)
	case answerDeferred:
		m := &Message{Author: BotUser, Thinking: true}
		m.flags = flagLoading | count(data, "flags")&flagEphemeral
		a.n.answer(i, m)
	case deferUpdate:
		i.original = i.message
	case updateMessage:
		i.original = i.message
		_, no := a.n.edit(&inner, i.message)
		return no
	case answerChoices:
		for _, one := range data["choices"].([]any) {
			i.choices = append(i.choices, Choice{str(one, "name"), one.(object)["value"]})
		}
	case answerForm:
		f := readForm(data)
		f.from = i
		a.n.forms[i.user] = f
	}
	return nil
}

// answer shows a message as the answer to an interaction, or as one that follows it.
func (a acts) answer(i *interaction, m *Message) {
	m.call, m.kind = i, 0
	if i.kind == onCommand && i.original == nil {
		m.kind = 20
	}
	if m.flags&flagEphemeral != 0 {
		m.For = i.user
	}
	m.Files = a.n.keep(i.channel.id, m.Files)
	a.n.write(i.channel.id, m)
	if i.original == nil {
		i.original = m
	}
}

// hooked returns the interaction whose token a call has, or why it is no good.
func hooked(n *Network, q *request) (*interaction, *refused) {
	i := n.calls[q.path("token")]
	switch {
	case q.path("app") != AppID, i == nil, i.acked == 0:
		return nil, refuse(10015)
	case time.Since(i.made) > n.cfg.TokenFor:
		return nil, refuse(50027)
	}
	return i, nil
}

// followUp posts a message by the token of an interaction. The first after a deferred answer takes its
// place.
func followUp(n *Network, q *request) (any, *refused) {
	i, no := hooked(n, q)
	if no != nil {
		return nil, no
	}
	m, no := compose(q, q.body, nil)
	switch {
	case no != nil:
		return nil, no
	case m.empty():
		return nil, refuse(50006)
	case i.acked == answerDeferred && i.original.Thinking:
		return n.edit(q, i.original)
	}
	n.answer(i, m)
	return n.messageJSON(m), nil
}

// hookedMessage returns the message that a call by the token of an interaction names.
func hookedMessage(n *Network, q *request) (*Message, *refused) {
	i, no := hooked(n, q)
	if no != nil {
		return nil, no
	}
	name := q.path("message")
	if name == "@original" && i.original != nil {
		name = i.original.ID
	}
	m := i.channel.find(name)
	if m == nil || m.call != i && m != i.original {
		return nil, refuse(10008)
	}
	return m, nil
}

func getFollowUp(n *Network, q *request) (any, *refused) {
	m, no := hookedMessage(n, q)
	if no != nil {
		return nil, no
	}
	return n.messageJSON(m), nil
}

func editFollowUp(n *Network, q *request) (any, *refused) {
	m, no := hookedMessage(n, q)
	if no != nil {
		return nil, no
	}
	return n.edit(q, m)
}

func deleteFollowUp(n *Network, q *request) (any, *refused) {
	m, no := hookedMessage(n, q)
	if no == nil {
		n.remove(m)
	}
	return nil, no
}
