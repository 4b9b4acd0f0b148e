package files

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

func TestSend(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"out/report.txt": "all is well\n"})
	p, err := b.preview("send_file", args{"path": "out/report.txt"})
	require.NoError(t, err)
	require.Equal(t, tools.Text, p.Kind)
	require.Equal(t, "Send a file to everybody in this thread.\n\n"+
		"file    out/report.txt\nname    report.txt\nsize    12 bytes\ntype    text/plain; charset=utf-8\n"+
		"sha256  "+digest([]byte("all is well\n"))+"\n", p.Text)
	r, err := b.try("send_file", args{"path": "out/report.txt"})
	require.NoError(t, err)
	require.Equal(t, &tools.File{Name: "report.txt", Content: []byte("all is well\n")}, r.Send)

	for name, want := range map[string]string{"june.txt": "june.txt", "../../x": "x", "a\nb": "a b", "..": "..", ".": "report.txt", "/": "report.txt", "\u200b": "report.txt"} {
		r, err := b.try("send_file", args{"path": "out/report.txt", "name": name})
		require.NoError(t, err)
		require.Equal(t, want, r.Send.Name)
	}
}

func TestSendRefuses(t *testing.T) {
	b := newBox(t, Config{MaxSend: 20}, map[string]string{
		"key.txt": "hunter2", "image.png": "\x89PNG\r\n\x1a\nhunter2", "long": strings.Repeat("x", 21), "none": "", "dir/a": "a",
	})
	b.call.Mask = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	b.link("/etc/passwd", "away")
	for path, want := range map[string]string{
		"key.txt":   "holds a secret of this service",
		"image.png": "holds a secret of this service",
		"long":      "at most 20 bytes",
		"none":      "empty",
		"dir":       "directory",
		"away":      "outside of the workspace",
		"../x":      "outside of the workspace",
		"nothing":   "does not exist",
	} {
		require.Contains(t, b.fails("send_file", args{"path": path}), want, path)
		_, err := b.preview("send_file", args{"path": path})
		require.ErrorContains(t, err, want, "nobody is asked about what cannot be sent")
	}
}

// What was approved is the content: another one is not sent, even of the same size.
func TestSendChanged(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"a": "one", "b": "one"})
	tool, call := b.ready("send_file", args{"path": "a"})
	p, err := tool.Preview(t.Context(), call)
	require.NoError(t, err)
	call.Digest = p.Digest
	b.put("a", "two")
	_, err = tool.Run(t.Context(), call)
	require.ErrorIs(t, err, tools.ErrChanged)
	b.put("a", "one")
	_, err = tool.Run(t.Context(), call)
	require.NoError(t, err)

	tool, other := b.ready("send_file", args{"path": "b"})
	other.Digest = p.Digest
	_, err = tool.Run(t.Context(), other)
	require.ErrorIs(t, err, tools.ErrChanged, "an approval is for one path")
}
