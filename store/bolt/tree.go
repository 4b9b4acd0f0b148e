package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"go.etcd.io/bbolt"
)

// bbolt trusts that its pages form a tree. If they do not, its own check may take all memory, or
// run for ever. So this check comes first: it reads the file, not the mapped memory, and reads
// each page once. A page, in the byte order of the machine:
//
//	its number (8), its kind (2), count of elements (2), how many pages it continues for (4)
//	branch: elements of the key's place (4) and size (4), the number of a page (8)
//	leaf:   elements of a flag (4), the key's place (4), its size (4), the value's size (4)
//
// A place counts from the element. A value that is a bucket is the number of its root (8), a
// sequence (8) and, if that number is 0, a page without a number of its own.
const (
	pageHead    = 16
	pageElement = 16
	bucketHead  = 16
	pageBranch  = 1
	pageLeaf    = 2
)

type tree struct {
	ctx      context.Context
	f        io.ReaderAt
	pageSize int64
	seen     []bool // by number of the page
}

// checkTree returns an errDamaged if what tx can reach in f is not a tree.
func checkTree(ctx context.Context, tx *bbolt.Tx, f io.ReaderAt) error {
	size := int64(tx.DB().Info().PageSize)
	t := tree{ctx: ctx, f: f, pageSize: size, seen: make([]bool, tx.Size()/size)}
	if err := t.walk(uint64(tx.Cursor().Bucket().RootPage())); err != nil {
		return err
	}
	for id := 2; id < len(t.seen); id++ { // after the two that tell where the others are
		if p, err := tx.Page(id); err != nil || !t.seen[id] && p.Type == "freelist" && p.OverflowCount >= len(t.seen)-id {
			return fmt.Errorf("%w: the list of free pages, page %d, has no end (%v)", errDamaged, id, err)
		}
	}
	return nil
}

// walk checks the page with this number, and those below it.
func (t *tree) walk(id uint64) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if id < 2 || id >= uint64(len(t.seen)) {
		return fmt.Errorf("%w: it leads to a page %d, which cannot be", errDamaged, id)
	}
	head := make([]byte, pageHead)
	if _, err := t.f.ReadAt(head, int64(id)*t.pageSize); err != nil {
		return err
	}
	if got := binary.NativeEndian.Uint64(head); got != id {
		return fmt.Errorf("%w: page %d says that it is page %d", errDamaged, id, got)
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if more >= uint64(len(t.seen))-id {
		return fmt.Errorf("%w: page %d continues beyond the end", errDamaged, id)
	}
	for i := range more + 1 {
		if t.seen[id+i] {
			return fmt.Errorf("%w: page %d is in two places", errDamaged, id+i)
		}
		t.seen[id+i] = true
	}
	page := make([]byte, int64(more+1)*t.pageSize)
	if _, err := t.f.ReadAt(page, int64(id)*t.pageSize); err != nil {
		return err
	}
	return t.elements(id, page)
}

// elements checks what is in page, which is the one with this number or is in a value of it.
func (t *tree) elements(id uint64, page []byte) error {
	bad := func(what string) error { return fmt.Errorf("%w: page %d: %s", errDamaged, id, what) }
	if len(page) < pageHead {
		return bad("a bucket in it is too short")
	}
	kind := binary.NativeEndian.Uint16(page[8:])
	count := int(binary.NativeEndian.Uint16(page[10:]))
	switch {
	case kind != pageBranch && kind != pageLeaf:
		return bad(fmt.Sprintf("its kind is %d", kind))
	case kind == pageBranch && count == 0:
		return bad("it leads nowhere")
	case len(page) < pageHead+count*pageElement:
		return bad(fmt.Sprintf("it cannot have %d elements", count))
	}
	for i := range count {
		element := page[pageHead+i*pageElement:]
		a, b := binary.NativeEndian.Uint32(element), binary.NativeEndian.Uint32(element[4:])
		if kind == pageBranch {
			if uint64(a)+uint64(b) > uint64(len(element)) {
				return bad("a key reaches beyond it")
			}
			if err := t.walk(binary.NativeEndian.Uint64(element[8:])); err != nil {
				return err
			}
			continue
		}
		key, value := binary.NativeEndian.Uint32(element[8:]), binary.NativeEndian.Uint32(element[12:])
		if uint64(b)+uint64(key)+uint64(value) > uint64(len(element)) {
			return bad("a value reaches beyond it")
		}
		if a == 0 {
			continue
		}
		if err := t.bucket(id, element[b+key:][:value]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) bucket(id uint64, value []byte) error {
	if len(value) < bucketHead {
		return fmt.Errorf("%w: page %d: a bucket in it is too short", errDamaged, id)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return t.walk(root)
	}
	return t.elements(id, value[bucketHead:])
}
