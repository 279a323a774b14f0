// Answers a question with a tool: a language model in the host chooses the call, the sandbox runs it, and the model answers with its result.
//
//	agent.wasm [-model NAME] [-folder FOLDER] QUESTION...
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// answer lets the model call the tool, and then answer with the results of the tool.
func answer(model, folder, question string) (string, error) {
	tool, err := weatherTool(folder)
	if err != nil {
		return "", err
	}
	chat, err := newChat(model)
	if err != nil {
		return "", err
	}
	calls, err := chat.AskFor(tool, question)
	if err != nil {
		return "", err
	}
	var results []Message
	for _, call := range calls {
		fmt.Fprintf(os.Stderr, "  %s(%s)\n", call.Function.Name, strings.Join(strings.Fields(call.Function.Arguments), " "))
		result, err := run(folder, call)
		if err != nil {
			return "", err
		}
		results = append(results, Message{Role: "tool", Content: result, ToolCallID: call.ID})
	}
	message, err := chat.Ask(map[string]any{"temp": 0, "n-predict": 64}, results...)
	return message.Content, err
}

func main() {
	model := flag.String("model", "lm", "a model that the host offers")
	folder := flag.String("folder", "/weather", "the folder of the tool's data: a file for each place")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	text, err := answer(*model, *folder, strings.Join(flag.Args(), " "))
	if err != nil {
		fmt.Fprintf(os.Stderr, "agent: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(strings.TrimSpace(text))
}
