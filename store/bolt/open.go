package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

const (
	lockTimeout = time.Second
	// mapAhead is how much more than the file is mapped, in bytes. It costs address space only.
	// When the file outgrows the map, it is mapped anew, for which all readers have to end.
	mapAhead  = 1 << 30
	newSuffix = ".new-" // of a file that create works on
)

// create puts an empty log at path, whole or not at all. If somebody else does so at the same
// time, theirs stays.
func create(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newSuffix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // is path by then, or of no use
	if err := f.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{Timeout: lockTimeout})
	if err != nil {
		return err
	}
	err = errors.Join(db.Update(initialise), db.Close())
	if err != nil {
		return err
	}
	// Unlike a rename this never replaces a file.
	err = os.Link(f.Name(), path)
	if _, there := os.Stat(path); err != nil && there != nil {
		return fmt.Errorf("%w; it needs a local file system with hard links", err)
	}
	return syncDir(filepath.Dir(path))
}

func initialise(tx *bbolt.Tx) error {
	for _, name := range buckets() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	meta := bucket(tx, metaBucket)
	if err := meta.Put([]byte(magicKey), []byte(magic)); err != nil {
		return err
	}
	return meta.Put([]byte(versionKey), binary.BigEndian.AppendUint32(nil, layoutVersion))
}

// open opens the file, but for writing only after a look at it that cannot change it.
func open(path string, c Config) (*bbolt.DB, error) {
	size, err := look(path)
	if err != nil {
		return nil, err
	}
	return openFile(path, bbolt.Options{
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: int(size) + mapAhead,
		MaxSize:         int(c.MaxSize),
		ReadOnly:        c.ReadOnly,
	})
}

// look makes sure that the file is a whole log that this heddle can read, and returns its size.
func look(path string) (size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, fmt.Errorf("opening the log: %w", err)
	case !info.Mode().IsRegular():
		return 0, refuse(path, errors.New("it is not a regular file"))
	case info.Size() == 0: // which bbolt would take for a file to be made
		return 0, refuse(path, errors.New("it is empty"))
	}
	db, err := openFile(path, bbolt.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	err = guard(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			if info, err = os.Stat(path); err != nil { // now that nobody can write
				return err
			}
			return inspect(tx, info.Size())
		})
	})
	if err != nil {
		err = refuse(path, err)
	}
	return info.Size(), errors.Join(err, db.Close())
}

// openFile is bbolt.Open without its will to create, and with errors that help.
func openFile(path string, o bbolt.Options) (*bbolt.DB, error) {
	o.Timeout = lockTimeout
	var file *os.File
	o.OpenFile = func(name string, flag int, mode fs.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(name, flag&^os.O_CREATE, mode)
		return file, err
	}
	var db *bbolt.DB
	err := guard(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	var at *fs.PathError
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, errDamaged):
		// bbolt did not come to this. What it has mapped would keep the lock beyond the file's Close.
		unlocked := syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
		return nil, errors.Join(refuse(path, err), unlocked, file.Close())
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("the log %s is %w: stop that one first; if it shall go on, work on a backup", path, ErrInUse)
	case errors.As(err, &at): // no right to open it, for one
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return nil, refuse(path, err)
}

// inspect refuses what is not a log, not whole, or of a newer layout.
func inspect(tx *bbolt.Tx, size int64) error {
	if size < tx.Size() { // pages beyond the end would fault
		return fmt.Errorf("it is cut off: %d of its %d bytes are there", size, tx.Size())
	}
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil || string(meta.Get([]byte(magicKey))) != magic {
		return errors.New("another program made it")
	}
	v := meta.Get([]byte(versionKey))
	if len(v) != 4 {
		return errors.New("the version of its layout cannot be read")
	}
	if v := binary.BigEndian.Uint32(v); v != layoutVersion {
		return fmt.Errorf("its layout is version %d and this heddle knows %d: use the heddle that wrote it, or a newer one", v, layoutVersion)
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("its bucket %s is missing", name)
		}
	}
	return nil
}

// refuse says what to do about a file that is not a log that can be used.
func refuse(path string, why error) error {
	return fmt.Errorf("%s is not a log that this heddle can use: %w. It was left as it is. Move it away, and either copy a backup to its place (cp BACKUP %s) or begin with an empty log", path, why, path)
}

// sweep removes the files in dir whose names begin with prefix, which a crash has left.
func sweep(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncDir makes durable which files are in a directory.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
