package discord_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// Discord does not send a press again. One that is being accepted when the program is to end, which cuts that
// short, is offered once more, before what came after it.
func TestWhatIsBeingAcceptedAtTheEndIsOfferedOnceMore(t *testing.T) {
	f := newFixture(t, quick)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, cut := make(chan struct{}), false
	ended := make(chan error, 1)
	go func() {
		ended <- f.d.Listen(ctx, func(ctx context.Context, e bots.Event) error {
			if cut {
				return f.accept(ctx, e)
			}
			cut = true
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	f.wait("a session", func() bool { return f.d.Health().Connected && f.n.Gateway.Stats().Ready == 1 })
	f.say("one")
	<-begun
	cancel()
	require.NoError(t, <-ended)
	require.Equal(t, []string{"one"}, f.texts(1))
}
