package main

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/agent/meter"
	"github.com/heddle-bot/heddle/store/bolt"
)

// healthHandler answers /healthz, which says that the process lives, and /readyz, which says that it
// can work: 200, or 503 and the reasons, one a line.
// /metrics is for Prometheus.
func healthHandler(log *bolt.Store, all []network, m *meter.Meter) http.Handler {
	disk := probe{dir: filepath.Dir(log.Path())}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		var reasons []string
		for _, n := range all {
			if p := n.problem(); p != "" {
				reasons = append(reasons, p)
			}
		}
		if err := cmp.Or(log.Healthy(), disk.writable()); err != nil {
			reasons = append(reasons, fmt.Sprintf("the log cannot be written: %v", err))
		}
		if len(reasons) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else {
			reasons = []string{"ok"}
		}
		for _, s := range reasons {
			fmt.Fprintln(w, s)
		}
	})
	return mux
}

// probeTime is how long the outcome of a probe holds: whoever asks more often gets the last one, so
// that questions, which anybody may ask, cost no writes.
const probeTime = 5 * time.Second

// A probe knows whether a directory can be written. Its methods may be called concurrently.
type probe struct {
	dir string

	mu      sync.Mutex
	at      time.Time // of the outcome; zero: never yet
	outcome error
}

func (p *probe) writable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() || time.Since(p.at) >= probeTime {
		p.outcome = writable(p.dir)
		p.at = time.Now() // since a slow disk is not to be asked all the time
	}
	return p.outcome
}

// writable tries whether a file can be written in dir: it finds a full disk too.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".heddle-probe-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		return err
	}
	return f.Sync()
}
