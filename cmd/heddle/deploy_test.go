package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file holds what is in deploy to what the program and its build really are.

func deployed(t *testing.T, name string) string {
	text, err := os.ReadFile("../../" + name)
	require.NoError(t, err)
	return string(text)
}

// unit returns the settings of a section of a systemd unit.
func unit(t *testing.T, text, section string) map[string]string {
	all := map[string]string{}
	in := ""
	for n, l := range strings.Split(text, "\n") {
		switch {
		case l == "" || strings.HasPrefix(l, "#"):
			continue
		case strings.HasPrefix(l, "["):
			in = strings.Trim(l, "[]")
			continue
		}
		key, value, ok := strings.Cut(l, "=")
		require.True(t, ok, "line %d is no setting: %s", n+1, l)
		require.NotContains(t, value, "#", "line %d: systemd takes a comment behind a value for a part of it", n+1)
		if in == section {
			require.NotContains(t, all, key, "line %d", n+1)
			all[key] = value
		}
	}
	return all
}

func TestUnit(t *testing.T) {
	service := unit(t, deployed(t, "deploy/heddle.service"), "Service")
	stop, err := strconv.Atoi(service["TimeoutStopSec"])
	require.NoError(t, err)
	require.Less(t, shutdownTime+closeTime, time.Duration(stop)*time.Second, "it is killed only when it hangs")
	require.Equal(t, "mixed", service["KillMode"], "commands are ended by heddle, not before it")
	for key, want := range map[string]string{
		"User": "heddle", "NoNewPrivileges": "true", "CapabilityBoundingSet": "", "ProtectSystem": "strict",
		"ProtectHome": "true", "StateDirectoryMode": "0700", "Restart": "always",
	} {
		got, ok := service[key]
		require.True(t, ok, key)
		require.Equal(t, want, got, key)
	}
	starts(t, strings.Fields(service["ExecStart"])[1:])
}

// starts checks that args are right, as far as they can be without the file that they name.
func starts(t *testing.T, args []string) {
	require.Equal(t, []string{"serve", "-c", "/etc/heddle/heddle.toml"}, args)
	args[2] = t.TempDir() + "/heddle.toml"
	var stderr strings.Builder
	require.Equal(t, 1, run(context.Background(), args, program{func(string) string { return "" }, io.Discard, &stderr}), "2 is a mistake in the arguments")
	require.Contains(t, stderr.String(), "there is no configuration file")
}

func TestContainerfile(t *testing.T) {
	text := deployed(t, "deploy/Containerfile")
	release := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(deployed(t, "go.mod"))
	require.Contains(t, text, "FROM golang:"+release[1]+" AS build\n")
	require.Regexp(t, `(?m)^build:\n\tCGO_ENABLED=0 .* -o bin/heddle `, deployed(t, "Makefile"), "the image has it from there, and no libc but its own")
	require.Contains(t, text, "RUN make build\n")
	require.Contains(t, text, "COPY --from=build /src/bin/heddle ")
	user := regexp.MustCompile(`(?m)^USER (\d+)$`).FindStringSubmatch(text)
	require.NotEmpty(t, user, "a number, so that orchestrators can tell that it is not root")
	require.NotEqual(t, "0", user[1])
	require.Contains(t, text, " --uid "+user[1]+" heddle")
	var args []string
	require.NoError(t, json.Unmarshal([]byte(regexp.MustCompile(`(?m)^CMD (.*)$`).FindStringSubmatch(text)[1]), &args))
	starts(t, args)
	stop, err := strconv.Atoi(regexp.MustCompile(`--stop-timeout (\d+)`).FindStringSubmatch(text)[1])
	require.NoError(t, err)
	require.Less(t, shutdownTime+closeTime, time.Duration(stop)*time.Second)
}
