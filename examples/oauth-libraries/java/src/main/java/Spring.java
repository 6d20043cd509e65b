import static org.springframework.security.oauth2.client.registration.ClientRegistration.withRegistrationId;

import com.nimbusds.jose.util.JSONObjectUtils;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.security.oauth2.client.endpoint.OAuth2RefreshTokenGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientRefreshTokenTokenResponseClient;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.OAuth2AccessToken;
import org.springframework.security.oauth2.core.OAuth2RefreshToken;
import org.springframework.security.oauth2.core.endpoint.OAuth2AccessTokenResponse;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.web.client.RestClient;

/**
 * Refreshes twice with Spring Security, which sends the refresh token and nothing else, and revokes with Spring's
 * RestClient: Spring Security has no revocation. README.md says how to start it.
 */
public final class Spring {
  static final ClientRegistration BROKER =
      withRegistrationId("broker")
          .clientId(System.getenv("BROKER_CLIENT_ID"))
          .clientSecret(System.getenv("BROKER_CLIENT_SECRET"))
          .authorizationGrantType(new AuthorizationGrantType("refresh_token"))
          .tokenUri(System.getenv("BROKER_URL") + "/v1/token")
          .build();

  static OAuth2AccessTokenResponse refresh(OAuth2AccessToken old, OAuth2RefreshToken refreshToken) {
    OAuth2RefreshTokenGrantRequest request = new OAuth2RefreshTokenGrantRequest(BROKER, old, refreshToken);
    return new RestClientRefreshTokenTokenResponseClient().getTokenResponse(request);
  }

  static int revoke(OAuth2RefreshToken refreshToken) {
    LinkedMultiValueMap<String, String> form = new LinkedMultiValueMap<>();
    form.add("token", refreshToken.getTokenValue());
    HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(15)).build();
    RestClient client = RestClient.builder().requestFactory(new JdkClientHttpRequestFactory(http)).build();
    return client
        .post()
        .uri(System.getenv("BROKER_URL") + "/v1/revoke")
        .headers(headers -> headers.setBasicAuth(BROKER.getClientId(), BROKER.getClientSecret()))
        .body(form)
        .retrieve()
        .toBodilessEntity()
        .getStatusCode()
        .value();
  }

  public static void main(String[] arguments) {
    Instant at = Instant.now();
    OAuth2AccessToken old = new OAuth2AccessToken(OAuth2AccessToken.TokenType.BEARER, "of before", at.minusSeconds(1), at);
    OAuth2AccessTokenResponse tokens = refresh(old, new OAuth2RefreshToken(System.getenv("REFRESH_TOKEN"), at));
    OAuth2AccessTokenResponse again = refresh(tokens.getAccessToken(), tokens.getRefreshToken());
    int revoked = revoke(again.getRefreshToken());
    Map<String, Object> shown =
        Map.of(
            "accessTokens", List.of(tokens.getAccessToken().getTokenValue(), again.getAccessToken().getTokenValue()),
            "refreshToken", again.getRefreshToken().getTokenValue(),
            "revoked", revoked);
    System.out.println(JSONObjectUtils.toJSONString(shown));
  }
}
