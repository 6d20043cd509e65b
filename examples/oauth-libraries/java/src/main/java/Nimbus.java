import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.oauth2.sdk.AccessTokenResponse;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.oauth2.sdk.token.Tokens;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** Refreshes twice and revokes with Nimbus, which sends the refresh token and nothing else. README.md says how to start it. */
public final class Nimbus {
  static final String BROKER_URL = System.getenv("BROKER_URL");
  static final ClientSecretBasic CLIENT =
      new ClientSecretBasic(
          new ClientID(System.getenv("BROKER_CLIENT_ID")), new Secret(System.getenv("BROKER_CLIENT_SECRET")));

  static Tokens refresh(RefreshToken refreshToken) throws Exception {
    URI endpoint = URI.create(BROKER_URL + "/v1/token");
    TokenRequest request = new TokenRequest.Builder(endpoint, CLIENT, new RefreshTokenGrant(refreshToken)).build();
    TokenResponse answer = TokenResponse.parse(send(request.toHTTPRequest()));
    if (!answer.indicatesSuccess()) throw new IllegalStateException(answer.toErrorResponse().getErrorObject().getCode());
    return ((AccessTokenResponse) answer).getTokens();
  }

  static int revoke(RefreshToken refreshToken) throws Exception {
    URI endpoint = URI.create(BROKER_URL + "/v1/revoke");
    return send(new TokenRevocationRequest(endpoint, CLIENT, refreshToken).toHTTPRequest()).getStatusCode();
  }

  static HTTPResponse send(HTTPRequest request) throws Exception {
    request.setConnectTimeout(15_000);
    request.setReadTimeout(15_000);
    request.setFollowRedirects(false);
    return request.send();
  }

  public static void main(String[] arguments) throws Exception {
    Tokens tokens = refresh(new RefreshToken(System.getenv("REFRESH_TOKEN")));
    Tokens again = refresh(tokens.getRefreshToken());
    int revoked = revoke(again.getRefreshToken());
    Map<String, Object> shown =
        Map.of(
            "accessTokens", List.of(tokens.getAccessToken().getValue(), again.getAccessToken().getValue()),
            "refreshToken", again.getRefreshToken().getValue(),
            "revoked", revoked);
    System.out.println(JSONObjectUtils.toJSONString(shown));
  }
}
