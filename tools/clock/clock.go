// Package clock is the tool that tells the time.
//
// It brings its own time zones, as many containers have none; those of the system are used where
// there are any.
package clock

import (
	"context"
	"encoding/json"
	"time"
	_ "time/tzdata" // see above

	"github.com/heddle-bot/heddle/tools"
)

type input struct {
	Timezone string `json:"timezone,omitempty" schema:"maxLength=64,default=UTC"`
}

// New returns the tool. It asks now for the time: time.Now, but in tests.
func New(now func() time.Time) (tools.Tool, error) {
	t, err := tools.Define[input]("clock", tools.Query)
	if err != nil {
		return tools.Tool{}, err
	}
	t.Title = func(args json.RawMessage) string {
		in, _ := tools.Decode[input](args) // validated before
		return tools.Clip("look at the clock, "+in.Timezone, 80)
	}
	t.Run = func(_ context.Context, c tools.Call) (tools.Result, error) {
		in, err := tools.Decode[input](c.Args)
		if err != nil {
			return tools.Result{}, err
		}
		zone, err := load(in.Timezone)
		if err != nil {
			return tools.Result{}, err
		}
		text := tell(now().In(zone))
		return tools.Result{Text: text}, nil
	}
	return t, nil
}
