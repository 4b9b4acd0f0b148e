package discord

import "time"

// Hasten returns d that waits for as little as a test can.
func Hasten(d *Discord) *Discord {
	d.pace = pace{
		identify: 20 * time.Millisecond,
		invalid:  func() time.Duration { return 10 * time.Millisecond },
		first:    10 * time.Millisecond,
		last:     50 * time.Millisecond,
		answer:   time.Second,
	}
	return d
}
