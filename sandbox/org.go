package sandbox

import (
	"context"
	"fmt"
)

// Org returns the actor's own organisation.
func (s *Service) Org(ctx context.Context, a Actor) (Org, error) {
	if a.OrgID == "" {
		return Org{}, s.authorize(a, VerbRead, object{})
	}
	all, err := s.c.Store.Orgs(ctx)
	if err != nil {
		return Org{}, fmt.Errorf("list organisations: %w", err)
	}
	for _, o := range all {
		if o.ID == a.OrgID {
			return o, nil
		}
	}
	return Org{}, &Error{Code: CodeUnauthorized, Message: "the organisation of this login is gone", Remedy: "log in again"}
}
