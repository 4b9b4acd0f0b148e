package bots_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots/botstest"
)

// An edit may wait long for its turn with the network. What people wait for is posted meanwhile, and
// the edit is still made, once, also when the program ends.
func TestEditHoldsUpNoPost(t *testing.T) {
	inBubble(t, func(op botstest.Op) botstest.Fault {
		if op.Edit {
			time.Sleep(25 * time.Second)
		}
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		time.Sleep(20 * time.Second) // the elapsed time is being shown
		require.True(t, b.chat.Ops()[1].Edit)
		ended := time.Now()
		b.ends(1, "Hi.")
		time.Sleep(time.Second)
		require.Equal(t, "Hi.", texts(b.chat, at, ann.ID)[1])
		require.WithinDuration(t, ended, b.chat.Ops()[2].Time, 100*time.Millisecond)
		b.settled()
		require.Equal(t, []string{"Done in 20 s.", "Hi."}, texts(b.chat, at, ann.ID))
		require.Len(t, b.chat.Ops(), 4)
	})
}
