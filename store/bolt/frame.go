package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// What is kept of a frame or a summary is sealed: the version of its form (1 byte), a CRC-32C over
// its key in the bucket, that version and the body (4 bytes), and the body. So neither a changed
// byte nor a record in the wrong place goes unnoticed. In bodies a number is a uvarint and a
// string is its length and its bytes.
//
//	frame      flags (1), Time (12), Due (12, if flagDue), Key, Claim, number of events, Kind and Data of each
//	summary    flags (1), Created (12), Updated (12), Due (12, if flagDue), Last, Owner, Frames, Events
const (
	sealVersion = 1
	sealSize    = 1 + 4

	flagFree   = 1 << 0
	flagDue    = 1 << 1
	flagsKnown = flagFree | flagDue
)

var errShort = errors.New("it ends too early")

// seal completes record, which is sealSize bytes of room and a body, for its place.
func seal(place, record []byte) []byte {
	record[0] = sealVersion
	binary.BigEndian.PutUint32(record[1:], checksum(place, record))
	return record
}

// unseal returns the body of record, which is part of it.
func unseal(place, record []byte) ([]byte, error) {
	if len(record) < sealSize {
		return nil, errShort
	}
	if v := record[0]; v != sealVersion {
		return nil, fmt.Errorf("its form is %d and this heddle knows %d: a newer heddle wrote it, or it is damaged", v, sealVersion)
	}
	if binary.BigEndian.Uint32(record[1:]) != checksum(place, record) {
		return nil, errors.New("its checksum does not fit: it is damaged")
	}
	return record[sealSize:], nil
}

func checksum(place, record []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli) // which crc32 makes once
	sum := crc32.Update(0, table, place)
	sum = crc32.Update(sum, table, record[:1])
	return crc32.Update(sum, table, record[sealSize:])
}

// encodeFrame returns f sealed for place.
func encodeFrame(place []byte, f store.Frame) []byte {
	size := sealSize + 64 + len(f.Key) + len(f.Claim)
	for _, e := range f.Events {
		size += 16 + len(e.Kind) + len(e.Data)
	}
	b := make([]byte, sealSize, size)
	b = append(b, flags(f.Free, f.Due))
	b = appendTime(b, f.Time)
	b = appendDue(b, f.Due)
	b = appendString(b, f.Key)
	b = appendString(b, f.Claim)
	b = binary.AppendUvarint(b, uint64(len(f.Events)))
	for _, e := range f.Events {
		b = appendString(b, e.Kind)
		b = appendString(b, e.Data)
	}
	return seal(place, b)
}

// decodeFrame undoes encodeFrame. The frame's Data are parts of record.
func decodeFrame(place, record []byte) (store.Frame, error) {
	body, err := unseal(place, record)
	if err != nil {
		return store.Frame{}, err
	}
	return decodeBody(body)
}

func decodeBody(body []byte) (store.Frame, error) {
	r := reader{rest: body}
	var f store.Frame
	var due bool
	f.Free, due = r.flags()
	f.Time = r.time()
	if due {
		f.Due = r.time()
	}
	f.Key = string(r.bytes())
	f.Claim = string(r.bytes())
	n := r.number()
	if n > uint64(len(r.rest)/2) { // an event takes two bytes or more
		r.fail(errShort)
	}
	if r.err == nil && n > 0 {
		f.Events = make([]store.Event, n)
	}
	for i := range f.Events {
		f.Events[i].Kind = string(r.bytes())
		if data := r.bytes(); len(data) > 0 {
			f.Events[i].Data = slices.Clip(data)
		}
	}
	if err := r.end(); err != nil {
		return store.Frame{}, err
	}
	return f, nil
}

// encodeSummary returns sum sealed. Its place is its session.
func encodeSummary(sum store.Summary) []byte {
	b := make([]byte, sealSize, sealSize+80+len(sum.Owner))
	b = append(b, flags(sum.Free, sum.Due))
	b = appendTime(b, sum.Created)
	b = appendTime(b, sum.Updated)
	b = appendDue(b, sum.Due)
	b = binary.AppendUvarint(b, uint64(sum.Last))
	b = appendString(b, sum.Owner)
	b = binary.AppendUvarint(b, uint64(sum.Frames))
	b = binary.AppendUvarint(b, uint64(sum.Events))
	return seal([]byte(sum.Session), b)
}

func decodeSummary(session, record []byte) (store.Summary, error) {
	sum := store.Summary{Session: string(session)}
	body, err := unseal(session, record)
	if err != nil {
		return sum, fmt.Errorf("the summary of session %q: %w", session, err)
	}
	r := reader{rest: body}
	var due bool
	sum.Free, due = r.flags()
	sum.Created = r.time()
	sum.Updated = r.time()
	if due {
		sum.Due = r.time()
	}
	sum.Last = store.Pos(r.number())
	sum.Owner = string(r.bytes())
	sum.Frames = int(r.number())
	sum.Events = int(r.number())
	if err := r.end(); err != nil {
		return sum, fmt.Errorf("the summary of session %q: %w", session, err)
	}
	return sum, nil
}

func flags(free bool, due time.Time) byte {
	var b byte
	if free {
		b |= flagFree
	}
	if !due.IsZero() {
		b |= flagDue
	}
	return b
}

func appendDue(b []byte, due time.Time) []byte {
	if due.IsZero() {
		return b
	}
	return appendTime(b, due)
}

func appendString[T ~string | ~[]byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// A reader takes a body apart. After a failure it returns zeros; the first error stays.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.rest) {
		r.fail(errShort)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail(errors.New("a number in it cannot be read"))
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail(errShort)
		return nil
	}
	return r.take(int(n))
}

func (r *reader) time() time.Time {
	b := r.take(timeSize)
	if b == nil {
		return time.Time{}
	}
	if binary.BigEndian.Uint32(b[8:]) >= uint32(time.Second) {
		r.fail(errors.New("a time in it cannot be read"))
		return time.Time{}
	}
	return timeAt(b)
}

func (r *reader) flags() (free, due bool) {
	b := r.take(1)
	if b == nil {
		return false, false
	}
	if unknown := b[0] &^ flagsKnown; unknown != 0 {
		r.fail(fmt.Errorf("it has flags %#x, which this heddle does not know: a newer heddle wrote it", unknown))
	}
	return b[0]&flagFree != 0, b[0]&flagDue != 0
}

func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail(fmt.Errorf("%d bytes follow its end", len(r.rest)))
	}
	return r.err
}
