// Judges checkpoints and proofs with the packages of the Go project for signed notes and transparency logs.
// It reads a list of cases as JSON and prints, for each, "" or why the case is refused.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type head struct {
	Key        string `json:"key"`
	Checkpoint string `json:"checkpoint"`
}

type question struct {
	Head head `json:"head"`
	// The leaf of an event and its place, for a proof that it is in the log.
	Leaf  string `json:"leaf"`
	Index int64  `json:"index"`
	// An earlier checkpoint, for a proof that the log continues it.
	Earlier *head    `json:"earlier"`
	Proof   []string `json:"proof"`
}

func main() {
	var cases []question
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	verdicts := make([]string, len(cases))
	for i, one := range cases {
		if err := judge(one); err != nil {
			verdicts[i] = err.Error()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		panic(err)
	}
}

func judge(one question) error {
	size, root, err := open(one.Head)
	if err != nil {
		return err
	}
	proof := make([]tlog.Hash, len(one.Proof))
	for i, text := range one.Proof {
		if proof[i], err = hashOf(text); err != nil {
			return err
		}
	}
	if one.Earlier != nil {
		earlierSize, earlierRoot, err := open(*one.Earlier)
		if err != nil {
			return err
		}
		return tlog.CheckTree(proof, size, root, earlierSize, earlierRoot)
	}
	if one.Leaf == "" {
		return nil
	}
	leaf, err := base64.StdEncoding.DecodeString(one.Leaf)
	if err != nil {
		return err
	}
	return tlog.CheckRecord(proof, size, root, one.Index, tlog.RecordHash(leaf))
}

// The size and the root of a checkpoint that the key has signed.
func open(given head) (int64, tlog.Hash, error) {
	verifier, err := note.NewVerifier(given.Key)
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	opened, err := note.Open([]byte(given.Checkpoint), note.VerifierList(verifier))
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return 0, tlog.Hash{}, fmt.Errorf("the checkpoint is not one of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return 0, tlog.Hash{}, err
	}
	root, err := hashOf(lines[2])
	return size, root, err
}

func hashOf(text string) (tlog.Hash, error) {
	var hash tlog.Hash
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(bytes) != tlog.HashSize {
		err = fmt.Errorf("a hash has %d bytes", len(bytes))
	}
	copy(hash[:], bytes)
	return hash, err
}
