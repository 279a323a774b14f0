package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"wasinn"
)

// Call is a call of a tool, in the form of OpenAI's messages: its arguments are JSON in a text.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is one that the model may call.
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"` // a JSON schema
}

// Message is one of a chat.
type Message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	Calls      []Call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// Chat is a conversation with a model of the host's. The host evaluates only what is new in it.
type Chat struct {
	context  wasinn.Context
	messages []Message
}

const (
	inPrompt, inOptions = 0, 1
	outMessage          = 2
)

func newChat(model string) (*Chat, error) {
	graph, err := wasinn.LoadByName(model)
	if err != nil {
		return nil, err
	}
	context, err := graph.InitExecutionContext()
	return &Chat{context: context}, err
}

func setText(context wasinn.Context, index uint32, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return wasinn.SetInput(context, index, text, uint32(len(text)))
}

// AskFor lets the model call the tool. A model that was trained to call tools writes a call, and a grammar of the host
// restricts it to the parameters. The host refuses this for another model, which is then asked only for the parameters.
func (c *Chat) AskFor(tool Tool, question string) ([]Call, error) {
	tools := []any{map[string]any{"type": "function", "function": tool}}
	options := map[string]any{"tools": tools, "tool-choice": "required", "parallel-tool-calls": false, "temp": 0, "n-predict": 64}
	asked, err := c.Ask(options, Message{Role: "user", Content: question})
	if !errors.Is(err, wasinn.UnsupportedOperation) {
		return asked.Calls, err
	}
	written, err := c.Ask(map[string]any{"json-schema": tool.Parameters, "temp": 0, "n-predict": 64})
	if err != nil {
		return nil, err
	}
	calls := []Call{{ID: "call1", Type: "function", Function: Function{tool.Name, written.Content}}}
	c.messages[len(c.messages)-1] = Message{Role: "assistant", Calls: calls}
	return calls, nil
}

// Ask adds messages, and then the model's answer. The options are those of docs/backends/llama.md.
func (c *Chat) Ask(options map[string]any, messages ...Message) (Message, error) {
	var answer Message
	c.messages = append(c.messages, messages...)
	options["chat"] = true
	if err := setText(c.context, inPrompt, c.messages); err != nil {
		return answer, err
	}
	if err := setText(c.context, inOptions, options); err != nil {
		return answer, err
	}
	if err := c.context.Compute(); err != nil {
		return answer, err
	}
	text, err := wasinn.GetOutputSlice[byte](c.context, outMessage)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("the model's message: %w", err)
	}
	c.messages = append(c.messages, answer)
	return answer, nil
}
