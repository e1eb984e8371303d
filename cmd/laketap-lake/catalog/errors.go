package catalog

import (
	"fmt"
	"net/http"
)

// apiError is an answer in the protocol's error form.
type apiError struct {
	status  int
	kind    string
	message string
}

// Error returns the message a client sees.
func (e *apiError) Error() string { return e.message }

// errorBody is the protocol's ErrorModel in its envelope.
type errorBody struct {
	Error errorModel `json:"error"`
}

// errorModel is what clients read; they choose their exception by type and code.
type errorModel struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
}

func badRequest(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, "BadRequestException", fmt.Sprintf(format, args...)}
}

func noSuchNamespace(ns namespace) error {
	return &apiError{http.StatusNotFound, "NoSuchNamespaceException", "namespace does not exist: " + ns.String()}
}

func noSuchTable(id identifier) error {
	return &apiError{http.StatusNotFound, "NoSuchTableException", "table does not exist: " + id.String()}
}

func alreadyExists(what string) error {
	return &apiError{http.StatusConflict, "AlreadyExistsException", "already exists: " + what}
}

func namespaceNotEmpty(ns namespace, what string) error {
	return &apiError{http.StatusConflict, "NamespaceNotEmptyException",
		fmt.Sprintf("namespace %s still holds %s: drop them first", ns, what)}
}

func commitFailed(format string, args ...any) error {
	return &apiError{http.StatusConflict, "CommitFailedException", fmt.Sprintf(format, args...)}
}

// unknownState says that a commit may or may not have happened. Clients must
// neither retry nor clean up after it.
func unknownState(err error) error {
	return &apiError{http.StatusInternalServerError, "CommitStateUnknownException", "commit: " + err.Error()}
}
