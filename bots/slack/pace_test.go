package slack_test

import (
	"slices"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// behind returns how much later than at an even pace what people waited for has been shown, at most,
// and how many things were later.
func behind(all []wait, gap time.Duration) (late time.Duration, n int) {
	got := map[bots.Class][]time.Time{}
	for _, w := range all {
		got[w.class] = append(got[w.class], w.made)
	}
	for class, want := range even(all, gap) {
		slices.SortFunc(got[class], time.Time.Compare)
		for k := range want {
			if d := got[class][k].Sub(want[k]); d > 0 {
				late, n = max(late, d), n+1
			}
		}
	}
	return late, n
}

// even returns when calls would be made that are asked for at their causes and made one each gap.
func even(all []wait, gap time.Duration) map[bots.Class][]time.Time {
	queue := slices.Clone(all)
	slices.SortFunc(queue, func(a, b wait) int { return a.cause.Compare(b.cause) })
	times := map[bots.Class][]time.Time{}
	for free := (time.Time{}); len(queue) > 0; {
		now := queue[0].cause
		if now.Before(free) {
			now = free
		}
		next := 0
		for i, w := range queue {
			if !w.cause.After(now) && w.class < queue[next].class {
				next = i
			}
		}
		times[queue[next].class] = append(times[queue[next].class], now)
		free = now.Add(gap)
		queue = slices.Delete(queue, next, next+1)
	}
	return times
}
