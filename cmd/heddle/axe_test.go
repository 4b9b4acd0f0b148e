//go:build fidelity

package main

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestAxe holds every page, in light and dark, wide and narrow, to the rules of axe-core.
func TestAxe(t *testing.T) {
	rules, err := os.ReadFile("../../bots/web/axe/node_modules/axe-core/axe.min.js")
	require.NoError(t, err, "the rules are missing: run make fidelity")
	d := newDesktop(t)
	alice := browser(t, 1280, 900)
	holds := func(what string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 320} {
				do(t, alice, chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
					media := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
					_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: media})
					return err
				}))
				do(t, alice, chromedp.Evaluate[chromedp.Void](string(rules)))
				found, err := chromedp.Run(alice, chromedp.Evaluate[string](
					`axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html)])))`, chromedp.EvalAwaitPromise))
				require.NoError(t, err)
				var violations []any
				require.NoError(t, json.Unmarshal([]byte(found), &violations))
				require.Empty(t, violations, "%s, %s, %d pixels", what, scheme, width)
			}
		}
		do(t, alice, chromedp.EmulateViewport(1280, 900))
	}
	do(t, alice, chromedp.Navigate(d.link()), chromedp.WaitVisible(chromedp.CSS("#name")))
	holds("the page to log in")
	logIn(t, alice, d.link(), "alice")
	holds("the start")
	do(t, alice, chromedp.SendKeys(chromedp.CSS("#text"), "replace moon with world in hello.txt"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	do(t, alice, chromedp.Click(chromedp.CSS(".call summary")))
	holds("a thread with a card and an unfolded step")
	do(t, alice, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("#keys")))
	holds("the keys")
	do(t, alice, chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("button[value=approve]")), chromedp.Click(chromedp.CSS("button[value=approve]")))
	sees(t, alice, "Done: hello.txt is as the diff showed.")
	do(t, alice, chromedp.SendKeys(chromedp.CSS("#text"), "what can you do?"), chromedp.KeyEvent(kb.Enter))
	sees(t, alice, "For real work, give Heddle a model")
	holds("a thread with answers")
	do(t, alice, chromedp.Click(chromedp.CSS("a[href='/console/']")), chromedp.WaitVisible(chromedp.CSS("#sessions")))
	holds("the console")
	do(t, alice, chromedp.Click(chromedp.CSS("a[href^='/console/s/']")), chromedp.WaitVisible(chromedp.CSS("#items")))
	holds("a session in the console")
}
