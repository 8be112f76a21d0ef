package sandbox

import "fmt"

// Verb is what an actor wants to do.
type Verb string

const (
	VerbRead Verb = "read" // see that it exists, and its state
	VerbTabs Verb = "tabs" // list, open, type into, change and end tabs
	VerbKeys Verb = "keys" // list and create keys

	VerbSettings Verb = "settings" // read and change one's own settings
)

// object is what a verb is applied to: an organisation, or one of its sandboxes.
type object struct {
	orgID   string
	sandbox *Sandbox // nil: the organisation itself
	asked   string   // how the caller named it, for the answer
}

// authorize is the one place that decides. An organisation that is not the actor's, and a sandbox that is switched
// off, look like ones that do not exist.
func (s *Service) authorize(a Actor, v Verb, o object) error {
	if a.OrgID == "" {
		return &Error{Code: CodeUnauthorized, Message: "not logged in", Remedy: "tabs login"}
	}
	if a.OrgID != o.orgID {
		return notFound(o)
	}
	switch v {
	case VerbKeys, VerbSettings:
		if o.sandbox != nil {
			return notFound(o)
		}
		return nil
	case VerbRead, VerbTabs:
		if o.sandbox == nil || (o.sandbox.Provider == LocalID && !s.c.Local) {
			return notFound(o)
		}
		return nil
	}
	return &Error{Code: CodeScopeForbidden, Message: fmt.Sprintf("nobody may %q", v)}
}

func notFound(o object) error {
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf("sandbox %.80q not found", o.asked)}
}
