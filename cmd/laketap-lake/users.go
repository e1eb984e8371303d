package main

import (
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/s3err"
)

// users are the accounts of the object store: the lake's two, fixed. The S3
// library asks for them at each request. Its admin API could add others, which
// would be accounts that lake.json does not know; every change is refused.
type users struct{ keys keys }

var _ auth.IAMService = users{}

// GetUserAccount finds an account by its access key.
func (u users) GetUserAccount(access string) (auth.Account, error) {
	// Names are no secrets, so a plain comparison does; the library compares the
	// signatures, which prove the secret.
	switch access {
	case u.keys.Owner.ID:
		return auth.Account{Access: access, Secret: u.keys.Owner.Secret, Role: auth.RoleAdmin}, nil
	case u.keys.Reader.ID:
		return auth.Account{Access: access, Secret: u.keys.Reader.Secret, Role: auth.RoleUser}, nil
	default:
		return auth.Account{}, auth.ErrNoSuchUser
	}
}

// ResolveAccounts returns the keys that belong to nobody.
func (u users) ResolveAccounts(access []string) ([]string, error) {
	var missing []string
	for _, one := range access {
		if _, err := u.GetUserAccount(one); err != nil {
			missing = append(missing, one)
		}
	}
	return missing, nil
}

// CreateAccount is refused, as is every other change.
func (users) CreateAccount(auth.Account) error { return fixed() }

// UpdateUserAccount is refused.
func (users) UpdateUserAccount(string, auth.MutableProps) error { return fixed() }

// DeleteUserAccount is refused.
func (users) DeleteUserAccount(string) error { return fixed() }

// ListUserAccounts is refused.
func (users) ListUserAccounts() ([]auth.Account, error) { return nil, fixed() }

// Shutdown has nothing to end: the two live in memory.
func (users) Shutdown() error { return nil }

func fixed() error { return s3err.GetAPIError(s3err.ErrAdminMethodNotSupported) }
