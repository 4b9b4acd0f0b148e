package clock_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
	"github.com/heddle-bot/heddle/tools/clock"
	"github.com/heddle-bot/heddle/tools/toolstest"
)

// ask returns what the clock tells at a moment.
func ask(t *testing.T, now, args string) (tools.Result, error) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	require.NoError(t, err)
	tool, err := clock.New(func() time.Time { return at })
	require.NoError(t, err)
	r, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	checked, valid, err := r.Check("clock", json.RawMessage(args))
	require.NoError(t, err)
	return tools.Run(t.Context(), checked, tools.Call{Args: valid})
}

func TestTool(t *testing.T) {
	tool, err := clock.New(func() time.Time { return time.Unix(1e9, 0) })
	require.NoError(t, err)
	require.Empty(t, toolstest.Lint([]tools.Tool{tool}))
	toolstest.Run(t, tool,
		toolstest.Case{Name: "utc", Args: `{}`},
		toolstest.Case{Name: "zone", Args: `{"timezone":"Asia/Shanghai"}`},
	)
}

func TestClock(t *testing.T) {
	for _, test := range []struct{ now, zone, want string }{
		{"2026-11-05T23:04:05Z", "", `2026-11-05T23:04:05Z
Thursday, 5 November 2026, 23:04:05 in UTC (UTC)
ISO week 2026-W45, day 309 of 365 of the year
Unix time 1793919845`},
		{"2026-11-05T23:04:05Z", "Asia/Shanghai", `2026-11-06T07:04:05+08:00
Friday, 6 November 2026, 07:04:05 in Asia/Shanghai (CST)
ISO week 2026-W45, day 310 of 365 of the year
Unix time 1793919845`},
		{"2028-12-31T23:30:00Z", "Europe/Berlin", `2029-01-01T00:30:00+01:00
Monday, 1 January 2029, 00:30:00 in Europe/Berlin (CET)
ISO week 2029-W01, day 1 of 365 of the year
Unix time 1861918200`},
		{"2028-12-31T12:00:00Z", "UTC", `2028-12-31T12:00:00Z
Sunday, 31 December 2028, 12:00:00 in UTC (UTC)
ISO week 2028-W52, day 366 of 366 of the year
Unix time 1861876800`},
	} {
		args := `{}`
		if test.zone != "" {
			args = `{"timezone":` + strconv.Quote(test.zone) + `}`
		}
		got, err := ask(t, test.now, args)
		require.NoError(t, err)
		require.Equal(t, test.want, got.Text)
	}
}

func TestClockSaysWhichZonesThereAre(t *testing.T) {
	const how = "; zones have IANA names such as Europe/Berlin, UTC or Etc/GMT-8 (8 hours ahead of UTC)"
	for zone, want := range map[string]string{
		"Berlin":          `there is no time zone "Berlin", did you mean Europe/Berlin?` + how,
		"New York":        `there is no time zone "New York", did you mean America/New_York?` + how,
		"Asia/Shangai":    `there is no time zone "Asia/Shangai", did you mean Asia/Shanghai?` + how,
		"Local":           `there is no time zone "Local"` + how,
		"../../etc/hosts": `there is no time zone "../../etc/hosts"` + how,
		"":                `there is no time zone ""` + how,
	} {
		_, err := ask(t, "2026-11-05T23:04:05Z", `{"timezone":`+strconv.Quote(zone)+`}`)
		require.EqualError(t, err, want)
	}
}
