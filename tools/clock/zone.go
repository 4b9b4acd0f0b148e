package clock

import (
	"fmt"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/tools"
)

// load returns a time zone by its IANA name. The machine's own, "Local", is none of the thread's.
func load(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fmt.Errorf("there is no time zone %q%s; zones have IANA names such as Europe/Berlin, UTC or Etc/GMT-8 (8 hours ahead of UTC)",
			name, tools.DidYouMean(strings.ReplaceAll(name, " ", "_"), common))
	}
	return zone, nil
}

// tell says what time it is, in the forms that questions are about.
func tell(t time.Time) string {
	year, week := t.ISOWeek()
	length := time.Date(t.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
	zone, _ := t.Zone()
	return fmt.Sprintf("%s\n%s in %s (%s)\nISO week %d-W%02d, day %d of %d of the year\nUnix time %d",
		t.Format(time.RFC3339), t.Format("Monday, 2 January 2006, 15:04:05"), t.Location(), zone,
		year, week, t.YearDay(), length, t.Unix())
}

// common are zones to be suggested, as package time cannot list those that it knows.
var common = strings.Fields(`
	UTC Africa/Cairo Africa/Johannesburg Africa/Lagos Africa/Nairobi
	America/Anchorage America/Argentina/Buenos_Aires America/Bogota America/Chicago America/Denver
	America/Halifax America/Lima America/Los_Angeles America/Mexico_City America/New_York
	America/Phoenix America/Santiago America/Sao_Paulo America/Toronto America/Vancouver
	Asia/Bangkok Asia/Dhaka Asia/Dubai Asia/Ho_Chi_Minh Asia/Hong_Kong Asia/Jakarta Asia/Jerusalem
	Asia/Karachi Asia/Kolkata Asia/Manila Asia/Riyadh Asia/Seoul Asia/Shanghai Asia/Singapore
	Asia/Taipei Asia/Tehran Asia/Tokyo Australia/Brisbane Australia/Perth Australia/Sydney
	Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Brussels Europe/Dublin Europe/Helsinki
	Europe/Istanbul Europe/Kyiv Europe/Lisbon Europe/London Europe/Madrid Europe/Moscow Europe/Oslo
	Europe/Paris Europe/Prague Europe/Rome Europe/Stockholm Europe/Vienna Europe/Warsaw
	Europe/Zurich Pacific/Auckland Pacific/Honolulu`)
