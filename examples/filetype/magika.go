package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// settings are those of the package, from the file next to its model.
type settings struct {
	Beginning    int                `json:"beg_size"`
	End          int                `json:"end_size"`
	Block        int                `json:"block_size"` // how much is read at each end, of which blanks are left out
	Padding      int32              `json:"padding_token"`
	Least        int                `json:"min_file_size_for_dl"` // bytes; of fewer the model is not asked
	Labels       []string           `json:"target_labels_space"`
	Thresholds   map[string]float32 `json:"thresholds"`
	Threshold    float32            `json:"medium_confidence_threshold"` // of the other labels
	Replacements map[string]string  `json:"overwrite_map"`

	kinds map[string]kind
}

type kind struct {
	Description string `json:"description"`
	MediaType   string `json:"mime_type"`
	Text        bool   `json:"is_text"`
}

// verdict is the kind of a file. score is the model's score for it, or 1 if the model was not asked.
type verdict struct {
	label string
	score float32
}

func readSettings(folder string) (*settings, error) {
	var s settings
	for name, to := range map[string]any{"config.min.json": &s, "content_types_kb.min.json": &s.kinds} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, to); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return &s, nil
}

// ends reads the first and the last block of a file; for a small one, both are the whole file.
func (s *settings) ends(path string) (first, last []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := min(int64(s.Block), info.Size())
	first, last = make([]byte, size), make([]byte, size)
	if _, err = io.ReadFull(file, first); err != nil {
		return nil, nil, err
	}
	if _, err = file.Seek(info.Size()-size, io.SeekStart); err != nil {
		return nil, nil, err
	}
	_, err = io.ReadFull(file, last)
	return first, last, err
}

const blanks = " \t\n\r\v\f"

// features are the model's input: the first bytes of a file and its last ones as numbers, padded if there are fewer.
func (s *settings) features(first, last []byte) []int32 {
	first, last = bytes.TrimLeft(first, blanks), bytes.TrimRight(last, blanks)
	first, last = first[:min(len(first), s.Beginning)], last[max(len(last)-s.End, 0):]
	numbers := slices.Repeat([]int32{s.Padding}, s.Beginning+s.End)
	for i, b := range first {
		numbers[i] = int32(b)
	}
	for i, b := range last {
		numbers[len(numbers)-len(last)+i] = int32(b)
	}
	return numbers
}

// withoutModel is the verdict on a file that is too small for the model.
func (s *settings) withoutModel(first []byte) (verdict, bool) {
	switch {
	case len(first) == 0:
		return verdict{"empty", 1}, true
	case len(bytes.TrimLeft(first, blanks)) >= s.Least:
		return verdict{}, false
	case utf8.Valid(first):
		return verdict{"txt", 1}, true
	}
	return verdict{"unknown", 1}, true
}

// fromScores is the verdict for the model's scores, one for each label. If it is unsure, only whether the file is text
// remains.
func (s *settings) fromScores(scores []float32) (verdict, error) {
	if len(scores) != len(s.Labels) {
		return verdict{}, fmt.Errorf("the model has %d scores, its settings %d labels", len(scores), len(s.Labels))
	}
	best := slices.Max(scores)
	label := s.Labels[slices.Index(scores, best)]
	threshold, own := s.Thresholds[label]
	if !own {
		threshold = s.Threshold
	}
	if replacement, replaced := s.Replacements[label]; replaced {
		label = replacement
	}
	if best < threshold && s.kinds[label].Text {
		label = "txt"
	} else if best < threshold {
		label = "unknown"
	}
	return verdict{label, best}, nil
}
