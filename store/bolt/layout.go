package bolt

import (
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"

	"github.com/heddle-bot/heddle/store"
)

// The buckets; see the package comment.
const (
	metaBucket      = "meta"
	framesBucket    = "frames"
	keysBucket      = "keys"
	sessionsBucket  = "sessions"
	recentBucket    = "recent"
	openBucket      = "open"
	dueBucket       = "due"
	artefactsBucket = "artefacts"
)

// The keys and values of the meta bucket.
const (
	magicKey      = "magic"
	magic         = "heddle log"
	versionKey    = "version"
	layoutVersion = 1 // 4 bytes; a larger one is refused
)

func buckets() []string {
	return []string{metaBucket, framesBucket, keysBucket, sessionsBucket, recentBucket, openBucket, dueBucket, artefactsBucket}
}

// bucket returns one of buckets, all of which are there in a file that open has let in.
func bucket(tx *bbolt.Tx, name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }

// sessionKey is what the keys of a session begin with in frames and keys. The length in front
// keeps sessions apart, whatever bytes their ids are made of.
func sessionKey(session string) []byte {
	b := make([]byte, 0, 2+len(session)+posSize)
	b = binary.BigEndian.AppendUint16(b, uint16(len(session)))
	return append(b, session...)
}

const posSize = 8

func frameKey(session string, pos store.Pos) []byte {
	return binary.BigEndian.AppendUint64(sessionKey(session), uint64(pos))
}

// splitFrameKey undoes frameKey.
func splitFrameKey(k []byte) (session string, pos store.Pos, ok bool) {
	if len(k) < 2+posSize || int(binary.BigEndian.Uint16(k)) != len(k)-2-posSize {
		return "", 0, false
	}
	at := len(k) - posSize
	return string(k[2:at]), store.Pos(binary.BigEndian.Uint64(k[at:])), true
}

func causeKey(session, key string) []byte { return append(sessionKey(session), key...) }

func posValue(pos store.Pos) []byte { return binary.BigEndian.AppendUint64(nil, uint64(pos)) }

// timeSize is the length of a time: seconds since 1970 in 8 bytes with the sign bit turned, so
// that earlier times sort first, and nanoseconds in 4.
const timeSize = 12

func appendTime(b []byte, t time.Time) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix())^1<<63)
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

// timeAt reads the first timeSize bytes of b.
func timeAt(b []byte) time.Time {
	sec := int64(binary.BigEndian.Uint64(b) ^ 1<<63)
	return time.Unix(sec, int64(binary.BigEndian.Uint32(b[8:]))).UTC()
}

func dueKey(due time.Time, session string) []byte {
	return append(appendTime(make([]byte, 0, timeSize+len(session)), due), session...)
}

func recentKey(updated time.Time, session string) []byte {
	k := dueKey(updated, session)
	for i := range k[:timeSize] {
		k[i] = ^k[i]
	}
	return k
}
