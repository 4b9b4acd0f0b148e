package bolt

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
)

func sample() store.Frame {
	at := time.Date(2026, 12, 1, 12, 0, 0, 1, time.UTC)
	return store.Frame{
		Key: "k", Claim: "R1", Free: true, Time: at, Due: at.Add(time.Hour),
		Events: []store.Event{{Kind: "a", Data: json.RawMessage(`{"x":1}`)}, {Kind: "b"}},
	}
}

// TestForm pins the stored form: a change of it makes what has been stored unreadable.
func TestForm(t *testing.T) {
	place := frameKey("ab", 0x0102)
	require.Equal(t, []byte("\x00\x02ab\x00\x00\x00\x00\x00\x00\x01\x02"), place)
	require.Equal(t, []byte("\x01\x60\xd2\xf9\xf4"+ // version and checksum
		"\x03\x80\x00\x00\x00\x6b\x0e\xb6\xc0\x00\x00\x00\x01"+ // flags and Time
		"\x80\x00\x00\x00\x6b\x0e\xc4\xd0\x00\x00\x00\x01"+ // Due
		"\x01k\x02R1\x02\x01a\x07{\"x\":1}\x01b\x00"), encodeFrame(place, sample()))
}

func TestDecodeFrameRefuses(t *testing.T) {
	place := frameKey("s", 1)
	good := encodeFrame(place, sample())
	for i := range good {
		_, err := decodeFrame(place, good[:i])
		require.Error(t, err, "cut at %d", i)
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			_, err := decodeFrame(place, bad)
			require.Error(t, err, "bit %d of byte %d", bit, i)
		}
	}
	for _, other := range [][]byte{frameKey("s", 2), frameKey("t", 1)} {
		_, err := decodeFrame(other, good)
		require.ErrorContains(t, err, "checksum", "it is in the wrong place")
	}
	newer := slices.Clone(good)
	newer[0] = 2
	_, err := decodeFrame(place, newer)
	require.ErrorContains(t, err, "a newer heddle wrote it")
	flagged := slices.Clone(good)
	flagged[sealSize] |= 0x80
	_, err = decodeFrame(place, seal(place, flagged))
	require.ErrorContains(t, err, "flags 0x80, which this heddle does not know")
	_, err = decodeFrame(place, seal(place, append(slices.Clone(good), 0)))
	require.ErrorContains(t, err, "1 bytes follow its end")
}

// FuzzDecodeFrame gives the decoder bodies, because no fuzzer finds a checksum.
func FuzzDecodeFrame(f *testing.F) {
	place := frameKey("s", 1)
	for _, frame := range []store.Frame{{}, sample(), {Key: "k", Due: time.Unix(-1, 0)}, {Time: time.Unix(1<<40, 999_999_999)}} {
		f.Add(encodeFrame(place, frame)[sealSize:])
	}
	f.Add([]byte{0xff})
	f.Add(append(make([]byte, 15), 0xff, 0xff, 0xff, 0xff, 0x7f)) // a number of events that cannot be
	f.Fuzz(func(t *testing.T, body []byte) {
		record := append(make([]byte, sealSize), body...)
		frame, err := decodeFrame(place, seal(place, record))
		if err != nil {
			require.Zero(t, frame)
			return
		}
		again, err := decodeFrame(place, encodeFrame(place, frame))
		require.NoError(t, err)
		require.Equal(t, frame, again)
	})
}

func FuzzDecodeSummary(f *testing.F) {
	at := time.Date(2026, 12, 1, 12, 0, 0, 1, time.UTC)
	full := store.Summary{Session: "s", Last: 7, Owner: "R1", Free: true, Due: at, Created: at, Updated: at, Frames: 7, Events: 9}
	for _, sum := range []store.Summary{{Session: "s"}, full} {
		f.Add(encodeSummary(sum)[sealSize:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		record := append(make([]byte, sealSize), body...)
		sum, err := decodeSummary([]byte("s"), seal([]byte("s"), record))
		if err != nil {
			return
		}
		again, err := decodeSummary([]byte("s"), encodeSummary(sum))
		require.NoError(t, err)
		require.Equal(t, sum, again)
	})
}

func TestKeysSortAsTheyMean(t *testing.T) {
	sorted := func(keys ...[]byte) {
		t.Helper()
		require.True(t, slices.IsSortedFunc(keys, slices.Compare))
	}
	times := []time.Time{{}, time.Unix(-2, 0), time.Unix(-1, 999), time.Unix(0, 0), time.Unix(0, 1), time.Unix(1, 0), time.Unix(math.MaxInt32+1, 0)}
	for i, at := range times {
		got, session, err := splitTimed(dueKey(at, "s"))
		require.NoError(t, err)
		require.Equal(t, at.UTC(), timeAt(got))
		require.Equal(t, "s", string(session))
		if i > 0 {
			sorted(dueKey(times[i-1], "z"), dueKey(at, "a"))
			sorted(recentKey(at, "z"), recentKey(times[i-1], "a"))
		}
	}
	sorted(frameKey("a", 1), frameKey("a", 255), frameKey("a", 256), frameKey("a", math.MaxUint64), frameKey("b", 0))
	session, pos, ok := splitFrameKey(frameKey("a\x00b", 258))
	require.True(t, ok)
	require.Equal(t, "a\x00b", session)
	require.Equal(t, store.Pos(258), pos)
	for _, bad := range []string{"", "\x00\x01a", "\x00\x02a\x00\x00\x00\x00\x00\x00\x00\x01"} {
		_, _, ok := splitFrameKey([]byte(bad))
		require.False(t, ok, "%q", bad)
	}
}
