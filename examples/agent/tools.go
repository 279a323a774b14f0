package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// weatherTool describes the tool to the model. The places are the files of the folder.
func weatherTool(folder string) (Tool, error) {
	tool := Tool{Name: "weather", Description: "The weather of a place"}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return tool, err
	}
	var places []string
	for _, entry := range entries {
		places = append(places, entry.Name())
	}
	if len(places) == 0 {
		return tool, fmt.Errorf("%s has no files", folder)
	}
	place := map[string]any{"type": "string", "enum": places}
	tool.Parameters = map[string]any{"type": "object", "properties": map[string]any{"place": place}, "required": []string{"place"}}
	return tool, nil
}

// run executes a call. Model output is untrusted: a name is a file of this folder, or an error. The sandbox ends at the
// folders that the host has given.
func run(folder string, call Call) (string, error) {
	if call.Function.Name != "weather" {
		return "", fmt.Errorf("there is no tool %q", call.Function.Name)
	}
	var arguments struct {
		Place string
	}
	if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil {
		return "", fmt.Errorf("arguments of weather: %w", err)
	}
	if arguments.Place != filepath.Base(arguments.Place) {
		return "", fmt.Errorf("there is no place %q", arguments.Place)
	}
	text, err := os.ReadFile(filepath.Join(folder, arguments.Place))
	return strings.TrimSpace(string(text)), err
}
