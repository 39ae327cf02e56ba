package oauth

import (
	"net/http"
	"strings"
	"testing"
)

// TestMemberNames: what a client says of itself is read by exact names, and refused if it
// is said twice. Otherwise a proxy that reads a registration, or a person who reads a
// document, might see other redirect URIs than we do.
func TestMemberNames(t *testing.T) {
	const good = `"redirect_uris":["` + callback + `"]`
	const evil = `["https://evil.example/"]`
	h := open(t)
	for _, tc := range []struct{ body, refused string }{
		{`{` + good + `,"Redirect_URIs":` + evil + `}`, "would be right"},
		{`{"REDIRECT_URIS":` + evil + `,` + good + `}`, "would be right"},
		{`{"redirect_uri\u017f":` + evil + `,` + good + `}`, "would be right"}, // ſ, which folds to s
		{`{` + good + `,"token_endpoint_auth_method":"none","Token_Endpoint_Auth_Method":"client_secret_post","Client_Name":7}`, "would be right"},
		{`{` + good + `,"Jwks_Uri":7,"logo_uri":[]}`, ""},
		{`{` + good + `,"scope":"a","scope":["b"]}`, "scope is there twice"}, // though nobody reads it: one rule for all JSON of strangers
		{`{` + good + `,"x":{"redirect_uris":1,"redirect_uris":2}}`, "redirect_uris is there twice"},
		{`{"Redirect_URIs":` + evil + `}`, "would be right"},
		{`{` + good + `,"redirect_uris":` + evil + `}`, "redirect_uris is there twice"},
		{`{` + good + `,` + good + `}`, "redirect_uris is there twice"},
		{`{` + good + `,"redirect\u005furis":` + evil + `}`, "redirect_uris is there twice"},
		{`{"redirect_uris":null,` + good + `}`, "redirect_uris is there twice"},
		{`{` + good + `,"client_name":"a","client_name":"b"}`, "client_name is there twice"},
		{`{` + good + `}{}`, "not client metadata"},
		{`{` + good + `,"client_name":7}`, "not client metadata"},
	} {
		w := h.do("POST", "/register", tc.body, header("Content-Type", asJSON))
		if tc.refused != "" && (w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), tc.refused)) {
			t.Errorf("%s: %d %s, want %q", tc.body, w.Code, w.Body, tc.refused)
		}
		document := strings.Replace(tc.body, "{", `{"client_id":"`+documentID+`",`, 1)
		c, err := parseDocument(documentID, []byte(document))
		if (err != nil) != (tc.refused != "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
			t.Errorf("document %s: %v, want %q", document, err, tc.refused)
		}
		if tc.refused != "" {
			continue
		}
		reg := reply[registered](t, w, http.StatusCreated)
		if len(reg.RedirectURIs) != 1 || reg.RedirectURIs[0] != callback || reg.AuthMethod != authNone || reg.Name != "unnamed client" {
			t.Errorf("%s: registered %+v", tc.body, reg)
		}
		if err == nil && (len(c.redirect) != 1 || c.redirect[0] != callback) {
			t.Errorf("document %s: %q", document, c.redirect)
		}
	}
	for _, id := range []string{`"Client_ID":"` + documentID + `"`, `"client_id":"` + documentID + `","client_id":"https://claude.ai/other"`} {
		if c, err := parseDocument(documentID, []byte(`{`+id+`,`+good+`}`)); err == nil {
			t.Errorf("%s: %+v", id, c)
		}
	}
}
