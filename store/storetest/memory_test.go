package storetest_test

import (
	"testing"

	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, storetest.Engine{New: func(*testing.T) store.Log { return storetest.NewMemory() }})
}
