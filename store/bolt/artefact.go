package bolt

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heddle-bot/heddle/store"
)

// An artefact is a file named after the SHA-256 of its content, so it never changes and is kept
// once: the artefact abcd… of the log x is x.artefacts/ab/abcd…. The log has a list of them, from
// which Check knows that one is lost. A crash between file and list leaves a file that nobody
// refers to.

const putPrefix = "put-" // of a file that PutArtefact works on

// artefacts is the directory of them.
type artefacts string

func artefactsOf(path string) artefacts { return artefacts(path + ".artefacts") }

// file returns where name is. Only what PutArtefact can have returned is a name.
func (a artefacts) file(name string) (string, error) {
	sum, err := hex.DecodeString(name)
	if err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != name {
		return "", fmt.Errorf("%q cannot be the name of an artefact: %w", name, fs.ErrNotExist)
	}
	return filepath.Join(string(a), name[:2], name), nil
}

// PutArtefact keeps data and returns its name. It is durable when PutArtefact returns nil.
func (s *Store) PutArtefact(ctx context.Context, data []byte) (name string, err error) {
	if s.db.file.IsReadOnly() {
		return "", fmt.Errorf("keeping an artefact: %w", ErrReadOnly)
	}
	sum := sha256.Sum256(data)
	name = hex.EncodeToString(sum[:])
	if err := s.artefacts.put(ctx, name, data); err != nil {
		return "", fmt.Errorf("keeping an artefact: %w", err)
	}
	_, err = s.db.ask(ctx, func(b *batch) (store.Pos, error) {
		size := binary.BigEndian.AppendUint64(nil, uint64(len(data)))
		return 0, bucket(b.tx, artefactsBucket).Put(sum[:], size)
	})
	if err != nil {
		return "", fmt.Errorf("listing the artefact %s: %w", name, err)
	}
	return name, nil
}

func (a artefacts) put(ctx context.Context, name string, data []byte) error {
	path, err := a.file(name)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := a.get(ctx, name); err != nil { // it is not there, or damaged
		if err := writeFile(string(a), path, data); err != nil {
			return err
		}
	}
	// Also if it was there: whoever put it may not have come to this.
	return errors.Join(syncDir(dir), syncDir(string(a)), syncDir(filepath.Dir(string(a))))
}

// writeFile makes the file at path, whole or not at all, by way of one in the directory tmp.
func writeFile(tmp, path string, data []byte) error {
	f, err := os.CreateTemp(tmp, putPrefix+"*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails if all went well
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Artefact returns what was put under name. For an unknown name the error wraps fs.ErrNotExist.
func (s *Store) Artefact(ctx context.Context, name string) ([]byte, error) {
	return s.artefacts.get(ctx, name)
}

func (a artefacts) get(ctx context.Context, name string) ([]byte, error) {
	path, err := a.file(name)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading an artefact: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != name {
		return nil, fmt.Errorf("the artefact %s is damaged: its content is another", path)
	}
	return data, nil
}
